import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { cpSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import Database from 'better-sqlite3'
import { unpackTar } from 'modern-tar'
import { bytesOf } from '../../../test/hostile/killed-server-folder.ts'
import { freePort, runProgram, startServer, temporaryFolder, until } from '../../../test/run-program.ts'
import { moveMark, testApp } from '../../../test/test-app.ts'
import { addCollector, recordContact } from '../../collectors/store.ts'
import { HOUR_MS } from '../../core/clock.ts'
import { openSession } from '../../org/session.ts'
import { stepAt, totpCode } from '../../org/totp.ts'

/** Secret and personal values that must not be in a bundle, by what they are. */
const canaries = new Map<string, string>()

function noted(what: string, value: string): string {
  canaries.set(what, value)
  return value
}

/** A value as it occurs in tokens, passwords and parameters. */
const canary = (what: string) => noted(what, `Cnry${randomBytes(8).toString('hex')}`)

/** A value of letters in lower case, as in names. */
const word = (what: string) =>
  noted(what, [...randomBytes(14)].map((byte) => String.fromCharCode(97 + (byte % 26))).join(''))

/** All forms in which a text can be hidden in bytes. */
function formsOf(text: string): string[] {
  const hex = Buffer.from(text).toString('hex')
  const percent = hex.replaceAll(/../g, '%$&')
  // Base64 of a part of a text depends on its position. The first and last characters also depend on what surrounds it.
  const base64 = [0, 1, 2].map((shift) => {
    const encoded = Buffer.from(`${'x'.repeat(shift)}${text}`)
      .toString('base64')
      .replaceAll('=', '')
    return encoded.slice(shift === 0 ? 0 : shift + 1, -2)
  })
  const all = [
    text,
    encodeURIComponent(text),
    hex,
    percent,
    ...base64,
    Buffer.from(text).toString('base64url').slice(0, -2),
  ]
  return [...all, ...all.map((one) => one.toLowerCase()), ...all.map((one) => one.toUpperCase())]
}

/** Returns which canaries are in the bytes, and in which form. */
function foundIn(bytes: Buffer): string[] {
  const text = bytes.toString('latin1')
  return [...canaries].flatMap(([what, value]) =>
    [...new Set(formsOf(value))].filter((form) => text.includes(form)).map((form) => `${what}: ${form}`),
  )
}

let root: ReturnType<typeof temporaryFolder>
let data: string

/**
 * Settings with a canary in every value that can contain one.
 * @param closed a port on which nothing listens
 */
function settings(closed: string): Record<string, string> {
  return {
    TAGWARDEN_PUBLIC_URL: `https://${word('public host')}.example/${canary('public path')}`,
    TAGWARDEN_COLLECT_URL: `https://${word('collect host')}.example`,
    TAGWARDEN_SMTP_URL: `smtp://${canary('smtp user')}:${canary('smtp password')}@127.0.0.1:${closed}`,
    TAGWARDEN_MAIL_FROM: `${canary('sender name')} <${canary('sender')}@example.com>`,
    TAGWARDEN_OPERATOR_MAIL: `${canary('operator')}@example.com`,
    TAGWARDEN_OPERATOR_WEBHOOK_URL: `http://127.0.0.1:${closed}/${canary('operator webhook')}`,
    TAGWARDEN_HEARTBEAT_URL: `http://127.0.0.1:${closed}/${canary('heartbeat')}`,
    TAGWARDEN_OUTBOUND_ALLOW: `127.0.0.1,${word('allowed host')}.example`,
    TAGWARDEN_OUTBOUND_PROXY: `http://${canary('proxy user')}:${canary('proxy password')}@127.0.0.1:${closed}`,
    TAGWARDEN_OIDC_ISSUER: `http://127.0.0.1:${closed}/${canary('issuer')}`,
    TAGWARDEN_OIDC_CLIENT_ID: canary('client id'),
    TAGWARDEN_OIDC_CLIENT_SECRET: canary('client secret'),
    TAGWARDEN_OIDC_NAME: canary('provider name'),
    TAGWARDEN_OIDC_ROLES: `${canary('group')}=admin`,
    TAGWARDEN_REGION: canary('region'),
    TAGWARDEN_BACKUP_TO: join(root.path, canary('backup place')),
    AWS_SECRET_ACCESS_KEY: canary('s3 secret'),
    AWS_ACCESS_KEY_ID: canary('s3 key'),
  }
}

let env: Record<string, string>
/** Settings of the doctor only: a server checks these files at its start. */
let brokenFiles: Record<string, string>

beforeAll(async () => {
  root = temporaryFolder()
  env = settings(await freePort())
  brokenFiles = {
    TAGWARDEN_COUNTRY_FILE: `/nowhere/${canary('country file')}`,
    TAGWARDEN_CHROMIUM: `/nowhere/${canary('chromium')}`,
  }
  data = join(root.path, canary('data folder'))
  await using world = await testApp({}, { transport: { send: async () => failed } })
  world.clock.set(Date.now() - HOUR_MS)
  const post = async (path: string, body: object, as?: string) => {
    const answer = await world.call('POST', path, { body, ...(as === undefined ? {} : { as }) })
    expect([path, answer.status < 300, answer.body]).toEqual([path, true, answer.body])
    return answer.body
  }
  const host = `${word('host')}.example`
  const domain = await post('/v1/domains', { name: word('domain') })
  noted('property token', domain.token)
  noted('API key', world.owner.apiKey)
  await post('/v1/projects', { name: canary('project'), domainIds: [domain.id] })
  const integration = await post('/v1/integrations', {
    provider: 'webhook',
    label: canary('integration'),
    config: { url: `https://hooks.example.com/${canary('webhook URL')}`, secret: webhookSecret() },
  })
  await post('/v1/integrations', { provider: 'team_chat', config: { botToken: `xoxb-${canary('bot token')}` } })
  await post('/v1/alerts', {
    name: canary('alert'),
    alertType: 'data_validation',
    domainId: domain.id,
    period: '1h',
    conditions: { logic: 'any', items: [{ parameter: '*', op: 'contains', values: [canary('value')] }] },
    channels: [
      { type: 'webhook', target: integration.id },
      { type: 'email', target: `${canary('recipient')}@example.com` },
    ],
  })
  const { id: keyId, ...key } = await post('/v1/keys', {
    name: canary('key name'),
    expiresInDays: 90,
    scopes: ['read'],
  })
  expect(keyId).toStartWith('key_')
  noted('second key', Object.values(key).find((one) => String(one).startsWith('ak_')) as string)
  await post('/v1/org/members', { email: `${canary('member')}@example.com`, role: 'member' })
  await post('/v1/insights/labels/assign', {
    label: canary('label'),
    kind: 'step',
    members: [{ vendor: 'Shop', event: 'buy' }],
  })
  await post('/v1/orders', {
    domainId: domain.id,
    orders: [{ id: canary('order'), at: world.clock.now(), value: 1, currency: 'EUR', status: 'paid' }],
  })
  await post('/v1/changes', { domainId: domain.id, source: 'ci', ref: canary('commit'), title: canary('change') })
  await post('/v1/flows/tests', {
    name: canary('flow test'),
    recording: { title: 'Buy', steps: [{ type: 'navigate', url: `https://${host}/${canary('start URL')}` }] },
    secrets: { password: canary('flow secret') },
  })
  world.app.db
    .prepare('UPDATE user SET name = ?, passwordHash = ?')
    .run(word('user name'), `$argon2id$${canary('password hash')}`)
  const session = noted('session', openSession(world.app.db, world.clock, world.owner.userId, 'password').token)
  const factor = await post('/v1/auth/totp', {}, session)
  noted('TOTP secret', factor.secret)
  for (const [index, code] of factor.recoveryCodes.entries()) noted(`recovery code ${index}`, code)
  const code = totpCode(factor.secret, stepAt(world.clock.now()))
  expect((await world.call('PUT', '/v1/auth/totp', { as: session, body: { code } })).status).toBe(200)
  const [vendor, name] = [word('vendor'), word('event')]
  const send = (event: string) =>
    world.collect(domain.token, {
      batchId: canary(`batch of ${event}`),
      sessionId: canary(`session of ${event}`),
      customerId: canary(`customer of ${event}`),
      page: {
        url: `https://${host}/${canary(`page of ${event}`)}?q=${canary(`query of ${event}`)}`,
        title: canary(`title of ${event}`),
      },
      events: [
        {
          vendor,
          event: name,
          account: canary(`account of ${event}`),
          params: {
            value: canaries.get('value'),
            [canary(`parameter of ${event}`)]: canary(`parameter value of ${event}`),
          },
        },
      ],
    })
  expect((await send('the first event')).status).toBe(202)
  world.clock.advance(5000)
  await world.run('flush', 'evaluate', 'deliver', 'compact')
  const { body } = await world.call('GET', '/v1/issues')
  await post(`/v1/issues/${body.issues[0].id}/comments`, { body: canary('comment') })
  expect((await send('the last event')).status).toBe(202)
  world.app.db.prepare('UPDATE org SET name = ?').run(word('organization'))
  noted('owner', 'alice@example.com')
  const { token: collectorToken, collector } = addCollector(world.app.db, world.clock, canary('collector'))
  noted('collector token', collectorToken)
  recordContact(world.app.db, collector.id, {
    status: { instance: canary('instance'), version: '0.0.1', diskBytes: 1, freeBytes: null, storedThrough: 1 },
    now: world.clock.now(),
    isAway: true,
  })
  cpSync(world.folder, data, { recursive: true })
  moveMark(world.folder, data)
  mkdirSync(join(data, 'damaged'))
  writeFileSync(join(data, 'damaged', canary('damaged file')), canary('damaged content'))
  noted('master key', readFileSync(join(data, 'master.key')).toString('latin1'))
})

afterAll(() => root[Symbol.dispose]())

const failed = { kind: 'status', status: 500, headers: {}, body: '' } as const

function webhookSecret(): string {
  const secret = randomBytes(32).toString('base64')
  noted('webhook secret', secret)
  return `whsec_${secret}`
}

/** A log in which every canary occurs in several ways, in lines of the program and of others. */
function logWithCanaries(): string {
  const values = [...canaries.values()]
  const lines = values.flatMap((value, index) => [
    JSON.stringify({ level: 'warn', time: Date.now(), msg: `the alert "${value}" failed: ${value}` }),
    JSON.stringify({ level: 'info', time: Date.now(), msg: `x=${value}&y=${encodeURIComponent(value)}`, other: value }),
    JSON.stringify({
      level: 'error',
      time: 1,
      msg: 'collect',
      stack: `TypeError: ${value}\n    at ${value} (/x/${value}.ts:1:2)`,
    }),
    JSON.stringify({ level: value, time: value, msg: value }),
    `Nov 28 12:00:00 host tagwarden[1]: {"level":"info","time":${index},"msg":"${Buffer.from(value).toString('base64')}"}`,
    `panic: ${value} at https://user:${value}@example.com/${Buffer.from(value).toString('hex')}`,
  ])
  return `${lines.join('\n')}\n{"level":"warn","time":1767614400000,"msg":"the disk is almost full: 0.9 GiB free"}\n`
}

/** Writes a bundle and returns its files by name. */
async function bundle(flags: readonly string[], { env, stdin = '' }: { env: Record<string, string>; stdin?: string }) {
  const file = join(root.path, 'bundle.tar.gz')
  rmSync(file, { force: true })
  const ended = await runProgram(['support-bundle', '--data', data, '--to', file, ...flags], { env }, stdin)
  expect(ended).toMatchObject({ code: 0, stderr: '' })
  const archive = readFileSync(file)
  const entries = await unpackTar(gunzipSync(archive))
  const files = new Map(
    entries.map(({ header, data }) => [header.name.replace(/^[^/]+\//, ''), Buffer.from(data ?? new Uint8Array())]),
  )
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(foundIn(gunzipSync(archive))).toEqual([])
  for (const [name, bytes] of files) expect([name, foundIn(bytes)]).toEqual([name, []])
  return files
}

test('the search finds every canary in the folder or the settings that is stored in plain text', () => {
  const searched = Buffer.concat([...bytesOf(data).values(), Buffer.from(JSON.stringify({ ...env, ...brokenFiles }))])
  const found = new Set(foundIn(searched).map((line) => line.split(':')[0]))
  for (const what of ['smtp password', 'alert', 'comment', 'order', 'session of the last event', 'user name', 'member'])
    expect([what, found.has(what)]).toEqual([what, true])
})

describe('no canary is in the bundle', () => {
  test('of a folder without a server', async () => {
    const files = await bundle(['--log', '-'], { env: { ...env, ...brokenFiles }, stdin: logWithCanaries() })
    expect([...files.keys()]).toEqual([
      'README.txt',
      'bundle.json',
      'doctor.txt',
      'doctor.json',
      'settings.json',
      'files.json',
      'schema.sql',
      'collectors.json',
      'tables.json',
      'timings.json',
      'log.ndjson',
    ])
    const jsonOf = (name: string) => JSON.parse(String(files.get(name)))
    expect(String(files.get('doctor.txt'))).toMatch(/^WRONG settings: TAGWARDEN_COUNTRY_FILE: /m)
    expect(jsonOf('settings.json')).toMatchObject({
      TAGWARDEN_SMTP_URL: '(set)',
      TAGWARDEN_REGION: '(set)',
      TAGWARDEN_RETENTION_DAYS: '90',
    })
    expect(jsonOf('tables.json')).toContainEqual(expect.objectContaining({ table: 'issue', rows: 1 }))
    expect(jsonOf('timings.json')).toHaveLength(2)
    expect(jsonOf('files.json')).toMatchObject({ spool: { files: 1 }, events: { files: expect.any(Number) } })
    expect(jsonOf('collectors.json')).toMatchObject([{ slot: 1, status: 'away', version: '0.0.1' }])
    expect(String(files.get('schema.sql'))).toContain('CREATE TABLE issue (')
    expect(String(files.get('log.ndjson')).trimEnd().split('\n').at(-1)).toBe(
      '{"level":"warn","time":"2026-01-05T12:00:00.000Z","msg":"the disk is almost full: 0.9 GiB free"}',
    )
    expect(String(files.get('README.txt'))).toContain('Missing: metrics.txt (no server is running)')
  })

  test('of a running server, with its log', async () => {
    await using server = await startServer(data, { env })
    await until('the first flush', async () =>
      /last_flush_age_seconds \d/.test(await (await fetch(`${server.url}/metrics`)).text()),
    )
    const log = join(root.path, 'server.log')
    writeFileSync(log, `${server.log()}${logWithCanaries()}`)
    const listen = new URL(server.url).host
    const files = await bundle(['--listen', listen, '--log', log], { env: { ...env, ...brokenFiles } })
    expect(String(files.get('metrics.txt'))).toContain('tagwarden_build_info{')
    const [, number = ''] = /collectors_away\{collector="(<\d+>)"\} 1/.exec(String(files.get('metrics.txt'))) ?? []
    expect(String(files.get('doctor.txt'))).toContain(`WARN  collectors: ${number} is away: `)
    expect(String(files.get('doctor.txt'))).toMatch(/^ok {4}server: running and ready$/m)
  })

  test('of a folder with a damaged database', async () => {
    const path = join(data, 'tagwarden.db')
    const intact = new Map(['', '-wal', '-shm'].map((suffix) => [path + suffix, readFileSync(path + suffix)] as const))
    const db = new Database(path)
    db.pragma('wal_checkpoint(TRUNCATE)')
    db.close()
    const bytes = readFileSync(path)
    writeFileSync(path, bytes.fill(0x41, 4096, 40_960))
    const files = await bundle([], { env: { ...env, ...brokenFiles } })
    expect(String(files.get('README.txt'))).toContain('Missing: schema.sql, collectors.json, tables.json, timings.json')
    for (const [name, content] of intact) writeFileSync(name, content)
  })
})

test('the doctor shows only the paths that are checked and the names of collectors', async () => {
  const { stdout, stderr } = await runProgram(['doctor', '--data', data], { env: { ...env, ...brokenFiles } })
  const found = foundIn(Buffer.from(stdout + stderr)).map((line) => line.split(':')[0])
  expect([...new Set(found)].sort()).toEqual(['chromium', 'collector', 'country file', 'data folder'])
})

test('bad use is refused', async () => {
  const use = (...flags: string[]) => runProgram(['support-bundle', ...flags])
  const to = join(root.path, 'exists')
  writeFileSync(to, '')
  expect(await use('--data', data, '--to', to)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('already exists'),
  })
  const log = join(root.path, 'no.log')
  expect(await use('--data', data, '--to', `${to}2`, '--log', log)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("can't be read: ENOENT"),
  })
  expect(await use('--data', join(root.path, 'none'))).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('data folder not found'),
  })
})
