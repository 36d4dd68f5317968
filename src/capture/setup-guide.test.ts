import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { SYSTEMS } from '../domains/domain.ts'
import { CLIENTS } from './clients/index.ts'
import { setupGuide } from './setup-guide.ts'

const VALUES = {
  eventsUrl: 'https://collect.example/api/v1/events',
  token: 'pt_1',
  sampleRate: { prod: 0.25, dev: 1 },
  head: '<script>load()</script>',
  script: 'load()',
  template: '___INFO___',
}

const FILES: Record<(typeof SYSTEMS)[number], string[]> = {
  global: ['head.html'],
  tag_manager: ['tagwarden.tpl', 'custom-html-tag.html'],
  tag_manager_global: ['head.html', 'tagwarden.tpl'],
  tag_system_a: ['tagwarden.js', 'head.html'],
  tag_system_b: ['tagwarden.js', 'head.html'],
  tag_system_c: ['tagwarden.js', 'head.html'],
  server: ['tagwarden.mjs', 'tagwarden.py', 'tagwarden.sh'],
  mobile_a: ['Tagwarden.kt', 'ExampleApplication.kt'],
  mobile_b: ['Tagwarden.swift', 'ExampleApp.swift'],
}

test.each(SYSTEMS)('the guide for %s has its own code, steps and sampling advice', (system) => {
  const { files, steps, sampling } = setupGuide(system, VALUES)
  expect(files.map(({ name }) => name)).toEqual(FILES[system])
  expect(new Set(steps).size).toBe(steps.length)
  expect(steps.length).toBeGreaterThan(1)
  expect(sampling).not.toBe('')
  for (const { code } of files) expect(code).not.toMatch(/\{\{|SCRIPT_URL/)
})

test('no two systems have the same steps', () => {
  const all = SYSTEMS.map((system) => setupGuide(system, VALUES).steps.join('\n'))
  expect(new Set(all).size).toBe(SYSTEMS.length)
})

test('the first file for servers and apps contains the URL and the token', () => {
  for (const system of ['server', 'mobile_a', 'mobile_b'] as const) {
    const [first] = setupGuide(system, VALUES).files
    expect(first?.code).toContain(VALUES.eventsUrl)
    expect(first?.code).toContain('"pt_1"')
  }
})

/** Evaluates literals of a language and returns their string values. */
const EVALUATE: [keyof typeof CLIENTS, (literals: string[]) => string[]][] = [
  ['node', (literals) => new Function(`return [${literals}]`)()],
  ['python', (literals) => JSON.parse(run('python3', `import json\nprint(json.dumps([${literals}]))`))],
  [
    'shell',
    (literals) =>
      run('sh', `printf '%s\\0' ${literals.join(' ')}`)
        .split('\0')
        .slice(0, -1),
  ],
  // Kotlin uses the same escapes as JSON, and Swift the same as JavaScript.
  ['kotlin', (literals) => (literals.some((literal) => literal.includes('$')) ? [] : JSON.parse(`[${literals}]`))],
  ['swift', (literals) => new Function(`return [${literals}]`)()],
]

/** Runs a program that reads its code from standard input. */
function run(program: string, code: string): string {
  const { stdout, stderr, exitCode } = Bun.spawnSync([program], { stdin: Buffer.from(code) })
  if (exitCode !== 0) throw new Error(stderr.toString())
  return stdout.toString()
}

test.each(EVALUATE)('any string can be written as a literal of %s', (client, evaluate) => {
  const text = fc.string({ unit: fc.constantFrom(...'\'"`\\$(){}#;\n\u2028é😀a n') })
  const texts = fc.array(text, { minLength: 300, maxLength: 300 })
  fc.assert(
    fc.property(texts, (values) => {
      expect(evaluate(values.map(CLIENTS[client].quote))).toEqual(values)
    }),
    { numRuns: 2 },
  )
})
