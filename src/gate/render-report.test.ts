import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { renderReport } from './render-report.ts'
import { type GateReport, REPORT_EXAMPLE } from './report.ts'

const FAILED = REPORT_EXAMPLE
const [FINDING] = FAILED.findings
const [CHECK] = FAILED.checks
if (!FINDING || !CHECK) throw new Error('the example has no finding')
const PASSED: GateReport = {
  ...FAILED,
  status: 'passed',
  ref: null,
  findings: [],
  checks: [
    { ...CHECK, status: 'passed' },
    { ...CHECK, name: 'Volume', status: 'skipped', reason: 'It counts events over time' },
  ],
}

/** Returns a report whose texts are all this text. */
function reportWith(text: string, findings = 1): GateReport {
  const cut = (length: number) => text.slice(0, length) || 'x'
  return {
    ...FAILED,
    name: cut(100),
    ref: cut(200),
    checks: [{ ...CHECK, name: cut(300) } as GateReport['checks'][number]],
    findings: Array.from({ length: findings }, () => ({
      ...(FINDING as GateReport['findings'][number]),
      sentence: cut(4000),
      expected: cut(4000),
      observed: cut(4000),
      parameters: [],
      evidence: { file: cut(300), entry: 1, at: 0, url: cut(2000), page: cut(2000) },
    })),
    unread: [{ file: cut(300), entry: 3, host: cut(300), reason: cut(1000) }],
  }
}

const hostileText = fc.oneof(
  fc.constantFrom(
    '<b>&"\'',
    ']]>',
    '| a |',
    '[a](javascript:x)',
    '@channel',
    '\u0000\u0007\u001b[31m',
    '\r\n## x',
    '\ud800',
    '\u202e',
  ),
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.string({ unit: 'grapheme', minLength: 1000, maxLength: 3000 }),
)

test('as text, a report says what is wrong, what was expected, and where', () => {
  expect(renderReport(FAILED, 'text')).toBe(
    [
      'Release gate “checkout” for 8f2c1ab',
      '',
      '✗ Purchase without transaction id [high]',
      '    Google Analytics 4 purchase had no `ep.transaction_id` on /checkout/thanks',
      '      ep.transaction_id: expected a value of `ep.transaction_id`, observed no value',
      '      checkout.har, entry 14, https://region1.google-analytics.com/g/collect, page shop.example/checkout/thanks',
      '',
      'Failed: 1 problem. 1 check of 6 events in 1 recording',
      '',
    ].join('\n'),
  )
  expect(renderReport(PASSED, 'text')).toContain(
    '✓ Purchase without transaction id [high]\n- Volume: skipped. It counts events over time\n\nPassed. 1 check of 6',
  )
})

test('a recording without events is named', () => {
  const empty = { ...PASSED, recordings: [{ file: 'a.har', requests: 3, events: 0 }], events: [] }
  for (const format of ['text', 'markdown'] as const) {
    expect(renderReport(empty, format)).toContain('The recording contains no analytics events')
  }
})

test('as JSON, a report is itself', () => {
  expect(JSON.parse(renderReport(FAILED, 'json'))).toEqual(FAILED)
})

/*
 * The structure that https://github.com/jenkinsci/xunit-plugin/blob/master/src/main/resources/org/jenkinsci/plugins/xunit/types/model/xsd/junit-10.xsd
 * demands, and the stricter parts of GitLab's and GitHub's readers.
 */
const SCHEMA: Record<string, { required: string[]; optional: string[]; children: string[] }> = {
  testsuites: { required: [], optional: ['name', 'time', 'tests', 'failures', 'errors'], children: ['testsuite'] },
  testsuite: {
    required: ['name', 'tests', 'failures', 'errors'],
    optional: ['time', 'skipped', 'timestamp', 'hostname', 'id', 'package'],
    children: ['testcase'],
  },
  testcase: { required: ['name', 'classname'], optional: ['time', 'status'], children: ['skipped', 'failure'] },
  skipped: { required: [], optional: ['message', 'type'], children: [] },
  failure: { required: [], optional: ['message', 'type'], children: [] },
}

interface Element {
  name: string
  attributes: Record<string, string>
  children: Element[]
  text: string
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
const unescaped = (text: string) =>
  text.replace(/&(?:#(\d+)|(\w+));/g, (whole, code?: string, name = '') => {
    const character = code === undefined ? ENTITIES[name] : String.fromCodePoint(Number(code))
    if (character === undefined) throw new Error(`unknown entity ${whole}`)
    return character
  })

/** Parses XML strictly. Throws for anything that is not well-formed. */
function parseXml(source: string): Element {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: characters that XML does not allow
  if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/.test(source) || !source.isWellFormed()) {
    throw new Error('contains a character that XML does not allow')
  }
  const [head = '', body = ''] =
    source.split('?>\n', 2).length === 2
      ? [source.slice(0, source.indexOf('?>') + 2), source.slice(source.indexOf('?>') + 2)]
      : []
  expect(head).toBe('<?xml version="1.0" encoding="UTF-8"?>')
  const root: Element = { name: '', attributes: {}, children: [], text: '' }
  const open = [root]
  const token = /<(\/?)([a-z]+)((?: [a-z]+="[^"<]*")*)(\/?)>|([^<]+)/y
  let at = 0
  while (at < body.length) {
    token.lastIndex = at
    const match = token.exec(body)
    if (!match) throw new Error(`not well-formed at ${body.slice(at, at + 60)}`)
    at = token.lastIndex
    const [, closing, name = '', attributes = '', single, text] = match
    const current = open.at(-1) ?? root
    if (text !== undefined) {
      if (/&(?!(?:#\d+|amp|lt|gt|quot|apos);)/.test(text)) throw new Error('contains a bare ampersand')
      current.text += unescaped(text)
    } else if (closing) {
      if (open.pop()?.name !== name) throw new Error(`</${name}> closes another element`)
    } else {
      const pairs = [...attributes.matchAll(/ ([a-z]+)="([^"]*)"/g)].map(([, key = '', value = '']) => [
        key,
        unescaped(value),
      ])
      const element: Element = { name, attributes: Object.fromEntries(pairs), children: [], text: '' }
      current.children.push(element)
      if (!single) open.push(element)
    }
  }
  if (open.length !== 1) throw new Error('an element is not closed')
  const [only] = root.children
  if (!only || root.children.length > 1) throw new Error('must have one root')
  return only
}

function checkElement({ name, attributes, children }: Element): void {
  const schema = SCHEMA[name]
  if (!schema) throw new Error(`unknown element ${name}`)
  const { required, optional } = schema
  expect(Object.keys(attributes)).toEqual(expect.arrayContaining(required))
  for (const key of Object.keys(attributes)) expect([...required, ...optional]).toContain(key)
  for (const key of ['tests', 'failures', 'errors', 'skipped', 'time']) {
    if (attributes[key] !== undefined) expect(attributes[key]).toMatch(/^\d+(\.\d+)?$/)
  }
  if (attributes.timestamp !== undefined) expect(attributes.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/)
  for (const child of children) {
    expect(schema.children).toContain(child.name)
    checkElement(child)
  }
}

describe('as JUnit XML', () => {
  test('a report has one test case per check', () => {
    const root = parseXml(renderReport(PASSED, 'junit'))
    checkElement(root)
    const [suite] = root.children
    expect(suite?.attributes).toMatchObject({ name: 'checkout', tests: '2', failures: '0', skipped: '1' })
    expect(
      suite?.children.map(({ attributes, children }) => [attributes.name, children.map(({ name }) => name)]),
    ).toEqual([
      ['Purchase without transaction id', []],
      ['Volume', ['skipped']],
    ])
    const failed = parseXml(renderReport(FAILED, 'junit')).children[0]?.children[0]?.children[0]
    expect(failed).toMatchObject({
      name: 'failure',
      attributes: { message: FINDING.sentence, type: 'rule' },
      text: expect.stringContaining('where: checkout.har, entry 14'),
    })
  })

  test('any report follows the schema', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        checkElement(parseXml(renderReport(reportWith(text), 'junit')))
      }),
      { numRuns: 300 },
    )
  })
})

describe('as Markdown', () => {
  test('a report is a heading, a summary and a table', () => {
    expect(renderReport(FAILED, 'markdown')).toBe(
      [
        '### ❌ Release gate: checkout (8f2c1ab)',
        '',
        'Failed: 1 problem. 1 check of 6 events in 1 recording.',
        '',
        '| Check | Severity | Problem | Where |',
        '|---|---|---|---|',
        '| Purchase without transaction id | high | Google Analytics 4 purchase had no `ep.transaction_id` on /checkout/thanks | checkout.har, entry 14, region1.google-analytics.com/g/collect, page shop.example/checkout/thanks |',
        '',
      ].join('\n'),
    )
    expect(renderReport(PASSED, 'markdown')).toContain('### ✅ Release gate: checkout\n\nPassed.')
  })

  test('any report fits into a comment, and data in it creates no markup', () => {
    fc.assert(
      fc.property(hostileText, fc.integer({ min: 1, max: 200 }), (text, findings) => {
        const markdown = renderReport(reportWith(text, findings), 'markdown')
        expect(markdown.length).toBeLessThanOrEqual(65_536)
        const rows = markdown.split('\n').filter((line) => line.startsWith('|'))
        for (const row of rows) expect(row.replace(/\\\|/g, '').split('|')).toHaveLength(6)
        const outside = markdown.replace(/(?<!\\)`[^`\n]*`/g, '')
        expect(outside).not.toMatch(/<|(?<!\\)\[|@(?!;)|https?:\/\//)
      }),
      { numRuns: 300 },
    )
  })
})

test('as text, data in a report creates no control sequences and no further lines', () => {
  const lines = renderReport(reportWith('x'), 'text').split('\n').length
  fc.assert(
    fc.property(hostileText, (text) => {
      const shown = renderReport(reportWith(text), 'text')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not reach a terminal
      expect(shown).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2028\u2029]/)
      expect(shown.split('\n')).toHaveLength(lines)
    }),
    { numRuns: 300 },
  )
})
