import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, cpSync, existsSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ask, call, runProgram, startServer, until, WEBHOOK_SECRET } from '../run-program.ts'
import { bytesOf, eventIdsOf, flipByte, type KilledFolder, killedFolder, readableOf } from './killed-server-folder.ts'

const root = mkdtempSync(join(tmpdir(), 'tagwarden-folder-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

let whole: KilledFolder
beforeAll(async () => {
  whole = await killedFolder(join(root, 'whole'))
})

let copies = 0
/** Copies the folder, so that the original stays intact. Returns the path of the copy. */
function copyOf(folder: string): string {
  const copy = join(root, `copy-${++copies}`)
  cpSync(folder, copy, { recursive: true })
  return copy
}

const DATABASE = ['tagwarden.db', 'tagwarden.db-wal', 'tagwarden.db-shm']

/** Returns the files that must never be deleted: events and the spool. */
function kept(folder: string): string[] {
  return [...bytesOf(folder).keys()].filter((name) => /\.(?:parquet|ndjson)$/.test(name) && !name.includes('tmp/'))
}

async function start(folder: string) {
  const { code, stdout, stderr } = await runProgram(['serve', '--data', folder, '--listen', '127.0.0.1:0'])
  return { code, stdout, stderr }
}

/** Fails unless startup rejects the folder with one line and leaves its data unchanged. Returns the line. */
async function refusalOf(folder: string): Promise<string> {
  const before = kept(folder)
  const { code, stdout, stderr } = await start(folder)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(/^tagwarden: [^\n]+\n$/)
  expect(stderr).not.toMatch(/\.ts:\d+|\n\s+at /)
  expect(kept(folder)).toEqual(before)
  return stderr.trimEnd()
}

describe('a missing database', () => {
  test('aborts startup with instructions, and event files remain unchanged', async () => {
    const folder = copyOf(whole.path)
    for (const name of DATABASE) rmSync(join(folder, name))
    const line = await refusalOf(folder)
    expect(line).toContain('tagwarden.db is missing or empty')
    expect(line).toContain(`tagwarden doctor --data ${folder} --rebuild`)
    expect(existsSync(join(folder, 'tagwarden.db'))).toBe(false)
  })

  test('is not replaced with an empty database by `init`, either', async () => {
    const folder = copyOf(whole.path)
    for (const name of DATABASE) rmSync(join(folder, name))
    const { code, stderr } = await runProgram(['init', '--data', folder, '--org', 'A', '--email', 'a@example.com'])
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('is missing or empty') })
    expect(existsSync(join(folder, 'tagwarden.db'))).toBe(false)
  })

  test('loses no data if it is restored', async () => {
    const folder = copyOf(whole.path)
    await using before = await startServer(copyOf(whole.path))
    const readable = await readableOf(before.url, whole.apiKey)
    expect(readable.eventIds).toEqual(whole.eventIds)
    for (const name of DATABASE) rmSync(join(folder, name))
    await refusalOf(folder)
    for (const name of DATABASE) cpSync(join(whole.path, name), join(folder, name))
    await using after = await startServer(folder)
    expect(await readableOf(after.url, whole.apiKey)).toEqual(readable)
  })
})

test('a missing event folder aborts startup and is not recreated; after a rebuild, the server works without the lost events', async () => {
  const folder = copyOf(whole.path)
  rmSync(join(folder, 'events'), { recursive: true })
  expect(await refusalOf(folder)).toContain('events is missing, but the database lists')
  expect(existsSync(join(folder, 'events'))).toBe(false)
  const { rebuilt, wrong } = await doctor(folder, '--rebuild')
  expect(wrong).toEqual([])
  expect(rebuilt?.gone.length).toBeGreaterThan(0)
  await using server = await startServer(folder)
  expect((await call('GET', `${server.url}/readyz`)).status).toBe(200)
})

/** Runs the doctor and returns its JSON output. */
async function doctor(folder: string, ...flags: string[]) {
  const { code, stdout, stderr } = await runProgram(['doctor', '--data', folder, '--json', ...flags])
  expect(stderr).toBe('')
  const said = JSON.parse(stdout) as {
    findings: { check: string; state: string; says: string }[]
    rebuilt: { listed: string[]; orgs: string[]; domains: string[]; setAside: string | null; gone: string[] } | null
    forgotten: { orgs: number; integrations: number } | null
  }
  return { code, ...said, wrong: said.findings.filter(({ state }) => state === 'wrong').map(({ check }) => check) }
}

describe('a rebuild', () => {
  test.each(['lost', 'overwritten'])(
    'of a database that was %s gives the new owner access to every event',
    async (how) => {
      const folder = copyOf(whole.path)
      for (const name of DATABASE) rmSync(join(folder, name))
      if (how === 'overwritten') writeFileSync(join(folder, 'tagwarden.db'), 'this is no database'.repeat(1000))
      expect((await doctor(folder)).wrong).toContain('database')
      const before = kept(folder)
      const { rebuilt, wrong } = await doctor(folder, '--rebuild')
      expect(wrong).toEqual([])
      expect(rebuilt).toMatchObject({ orgs: [whole.orgId], domains: [whole.domainId], gone: [] })
      expect(rebuilt?.listed).toHaveLength(before.filter((name) => name.endsWith('.parquet')).length)
      expect(kept(folder)).toEqual(before)

      await using server = await startServer(folder)
      const link = await until('the link', () => /#setup=(?<token>su_[\w-]+)/.exec(server.log()))
      const owner = { orgName: 'Anew', email: 'ann@example.com', password: 'correct horse battery' }
      const made = await call('POST', `${server.url}/v1/auth/setup`, { body: { ...owner, token: link.groups?.token } })
      expect(made.body.orgs).toEqual([{ id: whole.orgId, name: 'Anew', role: 'owner' }])
      expect(await eventIdsOf(server.url, made.body.token)).toEqual(whole.eventIds)
      const { domains } = await ask('GET', `${server.url}/v1/domains`, made.body.token)
      expect(domains).toMatchObject([{ id: whole.domainId, name: 'www.shop.example' }])
      await until('usage', async () => {
        const { totalEvents } = await ask('GET', `${server.url}/v1/usage`, made.body.token)
        return totalEvents === whole.eventIds.length
      })
      const token = domains[0].token
      const more = { batchId: 'after-the-rebuild', events: [{ id: 'evt-999', vendor: 'Shop', event: 'purchase' }] }
      expect((await call('POST', `${server.url}/api/v1/events`, { as: token, body: more })).status).toBe(202)
      await until('the new event', async () => (await eventIdsOf(server.url, made.body.token)).includes('evt-999'))
      await server.stop()
      expect(kept(folder)).toEqual(expect.arrayContaining(before.filter((name) => name.endsWith('.parquet'))))
      expect((await doctor(folder)).wrong).toEqual([])
    },
  )
})

test('a database without its latest changes can be used again, and every event is still readable', async () => {
  const folder = copyOf(whole.path)
  flipByte(join(folder, 'tagwarden.db-wal'), 0.8)
  expect(await refusalOf(folder)).toContain('which has the latest changes of the database, is readable for')
  expect((await doctor(folder)).wrong).toEqual(['database'])
  const { rebuilt, wrong } = await doctor(folder, '--rebuild')
  expect(wrong).toEqual([])
  expect(rebuilt).toMatchObject({ orgs: [], domains: [], setAside: expect.stringMatching(/\.damaged-\d+-wal$/) })
  await using server = await startServer(folder)
  const { eventIds, domains } = await readableOf(server.url, whole.apiKey)
  expect(eventIds).toEqual(whole.eventIds)
  expect(domains).toHaveLength(1)
  await until('usage', async () => {
    const { totalEvents } = await ask('GET', `${server.url}/v1/usage`, whole.apiKey)
    return totalEvents === whole.eventIds.length
  })
})

describe('a master.key file', () => {
  const key = 'master.key'
  const damages: Record<string, (path: string) => void> = {
    lost: (path) => rmSync(path),
    swapped: (path) => writeFileSync(path, Buffer.alloc(32, 9)),
    'cut in half': (path) => truncateSync(path, 16),
    emptied: (path) => truncateSync(path),
  }

  test.each(Object.entries(damages))(
    'that is %s aborts startup, and restoring it makes everything readable again',
    async (_, damage) => {
      const folder = copyOf(whole.path)
      damage(join(folder, key))
      const damaged = bytesOf(folder).get(key)
      const line = await refusalOf(folder)
      expect(line).toContain('the webhook secrets of 1')
      expect(line).toContain('the secrets of 1')
      expect(line).toContain('--forget-secrets')
      expect(bytesOf(folder).get(key)).toEqual(damaged as Buffer)
      expect((await doctor(folder)).wrong).toEqual(['key'])
      cpSync(join(whole.path, key), join(folder, key))
      await using server = await startServer(folder)
      const { org, eventIds } = await readableOf(server.url, whole.apiKey)
      expect(org.webhookSecret).toStartWith('whsec_')
      expect(eventIds).toEqual(whole.eventIds)
    },
  )

  test.each(Object.entries(damages))(
    'that is %s can be replaced if the stored secrets are discarded',
    async (_, damage) => {
      const folder = copyOf(whole.path)
      damage(join(folder, key))
      const { code, forgotten } = await doctor(folder, '--forget-secrets')
      expect({ code, forgotten }).toEqual({ code: 0, forgotten: { orgs: 1, integrations: 1 } })
      await using server = await startServer(folder)
      const { org, integrations, eventIds } = await readableOf(server.url, whole.apiKey)
      expect(org.webhookSecret).toStartWith('whsec_')
      expect(eventIds).toEqual(whole.eventIds)
      const url = `${server.url}/v1/integrations/${integrations[0]?.[0]}`
      expect((await ask('GET', url, whole.apiKey)).status).toBe('failing')
      const tried = await call('POST', `${url}/test`, { as: whole.apiKey })
      expect([tried.status, tried.body.error]).toEqual([502, expect.stringContaining('configure it again')])
      const config = { url: 'https://hooks.example.com/tags' }
      const half = await call('PUT', url, { as: whole.apiKey, body: { provider: 'webhook', config } })
      expect([half.status, half.body.error]).toEqual([400, expect.stringContaining('config.secret: ')])
      const anew = { provider: 'webhook', config: { ...config, secret: WEBHOOK_SECRET } }
      expect((await ask('PUT', url, whole.apiKey, anew)).status).toBe('connected')
      const { entries } = await ask('GET', `${server.url}/v1/org/audit-log?act=forgetSecrets`, whole.apiKey)
      expect(entries).toHaveLength(2)
    },
  )

  test.each([
    [0o600, false],
    [0o640, true],
    [0o644, true],
    [0o400, false],
  ])('with mode %o logs a warning at startup if other users can read it: %p', async (mode, warned) => {
    const folder = copyOf(whole.path)
    chmodSync(join(folder, key), mode)
    expect((await doctor(folder)).wrong).toEqual(warned ? ['key'] : [])
    await using server = await startServer(folder)
    expect(server.log().includes('master.key is readable by other users')).toBe(warned)
  })
})
