import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileSchema } from '../../src/configuration/file-schema.ts'
import { ask, initialize, runProgram, type Server, startServer, temporaryFolder } from '../run-program.ts'

const folder = temporaryFolder()
const file = join(folder.path, 'tagwarden.yaml')
let key: string
let server: Server
beforeAll(async () => {
  key = await initialize(join(folder.path, 'data'))
  server = await startServer(join(folder.path, 'data'))
})
afterAll(async () => {
  await server.stop()
  folder[Symbol.dispose]()
})

const run = (...args: string[]) => runProgram([...args, '--url', server.url, '--key', key])
const ALERT = `
    name: Blank value
    alertType: data_validation
    period: 1h
    conditions: { logic: any, items: [{ parameter: value, op: is_blank }] }
    channels: [{ type: email, target: owners }]
`

test('a file is planned, applied, exported and pruned', async () => {
  writeFileSync(file, `alerts:\n  blank:${ALERT}`)
  const changes = '+ create alert blank\n\n1 to create, 0 to update, 0 to delete.\n'
  expect(await run('plan', file)).toMatchObject({ code: 0, stdout: changes })
  expect(await run('plan', file, '--exit-code')).toMatchObject({ code: 1, stdout: changes })
  expect(await run('apply', file, '--dry-run', '--exit-code')).toMatchObject({ code: 1, stdout: changes })
  expect(await run('apply', file)).toMatchObject({ code: 0, stdout: `${changes}created alert blank\nApplied.\n` })
  expect(await run('plan', file, '--exit-code')).toMatchObject({ code: 0, stdout: 'No changes.\n' })

  const exported = await run('export')
  expect(exported).toMatchObject({ code: 0, stderr: '' })
  writeFileSync(file, exported.stdout)
  expect(await run('apply', file)).toMatchObject({ code: 0, stdout: 'No changes.\n' })

  writeFileSync(file, 'version: 1\n')
  const refused = await run('apply', file, '--prune')
  expect(refused).toMatchObject({
    code: 2,
    stderr: 'tagwarden: apply: --prune would delete 1 alert; add --yes to confirm\n',
  })
  expect((await ask('GET', `${server.url}/v1/alerts`, key)).alerts).toHaveLength(1)
  const pruned = await run('apply', file, '--prune', '--yes')
  expect(pruned).toMatchObject({ code: 0 })
  expect(pruned.stdout).toContain('- delete alert blank')
  expect((await ask('GET', `${server.url}/v1/alerts`, key)).alerts).toEqual([])
})

test('plan and apply print JSON', async () => {
  writeFileSync(file, `alerts:\n  blank:${ALERT}`)
  const none = { creates: [], updates: [], deletes: [], missing: [], steps: [] }
  const created = { ...none, creates: [{ section: 'alerts', key: 'blank' }] }
  const json = async (...args: string[]) => JSON.parse((await run(...args, '--json')).stdout)
  expect(await json('plan', file)).toEqual(created)
  expect(await json('apply', file, '--dry-run')).toEqual(created)
  expect(await json('apply', file)).toEqual({ ...created, steps: ['created alert blank'] })
  expect(await json('apply', file)).toEqual(none)

  writeFileSync(file, `alerts:\n  blank:${ALERT.replace('1h', '1d')}`)
  const differences = [{ path: 'period', before: '1h', after: '1d' }]
  expect(await json('plan', file)).toEqual({ ...none, updates: [{ section: 'alerts', key: 'blank', differences }] })

  writeFileSync(file, 'version: 1\n')
  const items = [{ section: 'alerts', key: 'blank' }]
  expect(await json('plan', file)).toEqual({ ...none, missing: items })
  expect(await json('apply', file, '--prune', '--yes')).toEqual({
    ...none,
    deletes: items,
    steps: ['deleted alert blank'],
  })
})

test('faults in files and wrong arguments exit with 2', async () => {
  writeFileSync(file, `alerts:\n  blank:${ALERT.replace('1h', '1y')}`)
  const faulty = await run('apply', file)
  expect(faulty.code).toBe(2)
  expect(faulty.stderr).toStartWith('tagwarden.yaml:5: alerts.blank.period: ')
  expect(faulty.stderr).toEndWith('tagwarden: 1 error; nothing was changed\n')
  for (const [args, stderr] of [
    [['apply', '--key', key], 'tagwarden: apply: no file given\n'],
    [['apply', file], 'tagwarden: apply: --key is missing; TAGWARDEN_KEY can contain it\n'],
    [
      ['plan', file, '--key', key, '--url', 'shop'],
      'tagwarden: plan: --url must be a web address, such as https://tags.example.com\n',
    ],
    [
      ['apply', file, `${folder.path}/x/tagwarden.yaml`, '--key', key],
      'tagwarden: apply: two files are named tagwarden.yaml; rename one of them\n',
    ],
  ] as const) {
    expect(await runProgram([...args])).toMatchObject({ code: 2, stdout: '', stderr })
  }
  expect((await run('plan', join(folder.path, 'none.yaml'))).code).toBe(2)
})

test('the schema is printed without a server, and published', async () => {
  const { code, stdout } = await runProgram(['export', '--schema'])
  expect([code, JSON.parse(stdout)]).toEqual([0, fileSchema()])
  const published = readFileSync(join(import.meta.dir, '../../docs/tagwarden.schema.json'), 'utf8')
  expect(JSON.parse(published)).toEqual(fileSchema())
})
