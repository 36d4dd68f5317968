import { expect, test } from 'bun:test'
import { join, resolve } from 'node:path'
import { Glob } from 'bun'
import { ALERT_KINDS, alertTypes } from '../../src/alerts/types/index.ts'
import { issueKinds } from '../../src/issues/issue-kinds.ts'

const ROOT = resolve(import.meta.dir, '../..')

const sources = [...new Glob('src/**/*.{ts,tsx}').scanSync({ cwd: ROOT })]
  .filter((path) => !/\.(test|fixture)\.tsx?$/.test(path))
  .sort()
const read = (path: string) => Bun.file(join(ROOT, path)).text()

test('adding an alert type requires one file and one line in the list of types', async () => {
  const child = Bun.spawn(
    [
      process.execPath,
      'test',
      '--preload',
      './test/alerts/add-alert-type.ts',
      '--timeout=600000',
      './test/alerts/with-added-alert-type.ts',
    ],
    { cwd: ROOT, stdout: 'ignore', stderr: 'pipe' },
  )
  const [stderr, code] = await Promise.all([new Response(child.stderr).text(), child.exited])
  expect({ stderr, code }).toMatchObject({ code: 0 })
  for (const path of sources) {
    expect({ path, knows: /order_limit|orderLimit|order-limit/.test(await read(path)) }).toEqual({
      path,
      knows: false,
    })
  }
})

test('issues are opened by alert types and run kinds, each with a unique name', () => {
  const kinds = issueKinds.map(({ kind }) => kind)
  expect(kinds).toEqual([...ALERT_KINDS, 'flow_test', 'audit', 'order_capture'])
})

/** Files that mention alert types only as examples and would work without them. */
const EXAMPLES = ['src/commands/demo/sample-alerts.ts', 'src/web/pages/alerts/editor/templates.ts']

test('only alert types and examples mention a type by name or use its own field', async () => {
  const fields = alertTypes.flatMap(({ form }) => form.configuration?.field ?? [])
  const words = [
    ...ALERT_KINDS.map((kind) => `['"\`]${kind}['"\`]`),
    ...fields.map((field) => String.raw`\.${field}\b`),
  ]
  const named = new RegExp(words.join('|'))
  const others = sources.filter((path) => !path.startsWith('src/alerts/types/') && !EXAMPLES.includes(path))
  const knowing: string[] = []
  for (const path of others) if (named.test(await read(path))) knowing.push(path)
  expect(knowing).toEqual([])
})
