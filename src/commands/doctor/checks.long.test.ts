import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { installedChromium } from '../../../test/browser/installed-chromium.ts'
import { freePort, initialize, runProgram, startServer, temporaryFolder } from '../../../test/run-program.ts'
import { addCollector, recordContact } from '../../collectors/store.ts'
import { buildInfo } from '../../core/build-info.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, systemClock } from '../../core/clock.ts'
import { newId } from '../../core/id.ts'
import { mailbox, receiver } from '../../transport/receiver.fixture.ts'
import { markClickhouse } from '../../warehouse/stored-engine.ts'

/** Creates an empty data folder, changes its database, and returns what the doctor says about one check. */
async function findingsOf(
  check: string,
  {
    sql,
    env = {},
    flags = [],
  }: { sql?: (db: Database.Database) => void; env?: Record<string, string>; flags?: string[] },
) {
  using root = temporaryFolder()
  const data = join(root.path, 'data')
  await initialize(data)
  if (sql) {
    const db = new Database(join(data, 'tagwarden.db'))
    sql(db)
    db.close()
  }
  const { code, stdout, stderr } = await runProgram(['doctor', '--data', data, ...flags], { env })
  expect(stderr).toBe('')
  return { code, lines: stdout.split('\n').filter((line) => new RegExp(`^\\w+ +${check}: `).test(line)) }
}

const orgOf = (db: Database.Database) => db.prepare<[], string>('SELECT id FROM org').pluck().get() ?? ''

function addDelivery(
  db: Database.Database,
  { status, attempts, at }: { status: string; attempts: number; at: number },
) {
  db.prepare(
    `INSERT INTO delivery (id, orgId, transition, noticeKey, transitionKey, channelType, channelTarget, message, status,
       attempts, dueAt, lastAttemptAt, lastError, createdAt)
     VALUES (@id, @orgId, 'test', @id, @id, 'webhook', 'https://hooks.example/secret-path', '{}', @status, @attempts, 0, @at,
       'status 500', @at)`,
  ).run({ id: newId('dlv', at), orgId: orgOf(db), status, attempts, at })
}

const addBackup = (db: Database.Database, status: string, at: number, error: string | null) =>
  db
    .prepare(`INSERT INTO backup (id, status, place, startedAt, finishedAt, error) VALUES (?, ?, '/b', ?, ?, ?)`)
    .run(newId('bkp', at), status, at, at, error)

const NOW = Date.now()

test.each<[string, string, (db: Database.Database) => void, number, RegExp]>([
  ['no notification has failed', 'deliveries', () => {}, 0, /^ok .+ no notification has failed/],
  [
    'a notification failed an hour ago',
    'deliveries',
    (db) => addDelivery(db, { status: 'failed', attempts: 10, at: NOW - HOUR_MS }),
    0,
    /^WARN .+: webhook: 1 failed, 0 waiting for a retry\. The reasons are on the page Deliveries$/,
  ],
  [
    'a notification failed two days ago',
    'deliveries',
    (db) => addDelivery(db, { status: 'failed', attempts: 10, at: NOW - 2 * DAY_MS }),
    0,
    /^ok /,
  ],
  [
    'a notification waits for a retry',
    'deliveries',
    (db) => addDelivery(db, { status: 'pending', attempts: 2, at: NOW - MINUTE_MS }),
    0,
    /^WARN .+ webhook: 0 failed, 1 waiting/,
  ],
  ['no backup', 'backup', () => {}, 0, /^WARN .+ there is no backup; run "tagwarden backup"/],
  ['a backup', 'backup', (db) => addBackup(db, 'succeeded', NOW - HOUR_MS, null), 0, /^ok .+ the last backup is of/],
  [
    'a failed backup',
    'backup',
    (db) => addBackup(db, 'failed', NOW, 'no space'),
    0,
    /^WARN .+ attempt failed: no space/,
  ],
  ['a stored time in the past', 'clock', (db) => setHeartbeat(db, NOW - HOUR_MS), 0, /^ok .+ No other clock/],
  [
    'a stored time in the future',
    'clock',
    (db) => setHeartbeat(db, NOW + HOUR_MS),
    1,
    /^WRONG clock: it shows .+, but the server was already running at .+; set the clock of this machine with NTP$/,
  ],
  [
    'events in ClickHouse and no address of it',
    'warehouse',
    markClickhouse,
    1,
    /^WRONG .+ are in ClickHouse\. .+ TAGWARDEN_WAREHOUSE/,
  ],
  [
    'a collector that was never in contact',
    'collectors',
    (db) => void addCollector(db, systemClock, 'a'),
    0,
    /^WARN .+ "a" has never been in contact; check/,
  ],
  [
    'a collector in contact',
    'collectors',
    (db) => addContact(db, {}),
    0,
    /^ok .+ "a" is connected: .+, lag 2 s, waiting/,
  ],
  ['a collector that is away', 'collectors', (db) => addContact(db, { isAway: true }), 0, /^WARN .+ "a" is away: last/],
  [
    'a collector with another version',
    'collectors',
    (db) => addContact(db, { version: '0.0.1' }),
    0,
    /^WARN .+ "a" has another version than this server \(.+\): .+ version 0\.0\.1, .+; upgrade both/,
  ],
])('with %s, the check %s reports it', async (_, check, sql, code, line) => {
  expect(await findingsOf(check, { sql })).toEqual({ code, lines: [expect.stringMatching(line)] })
})

/** Adds a collector with the server's version that was in contact and is 2 s behind. */
function addContact(db: Database.Database, { version = buildInfo.version, isAway = false }): void {
  const { id } = addCollector(db, systemClock, 'a').collector
  const status = { instance: 'its folder', version, diskBytes: 1000, freeBytes: 2e9, storedThrough: NOW - 2000 }
  recordContact(db, id, { status, now: NOW, isAway })
}

const setHeartbeat = (db: Database.Database, at: number) =>
  void db.prepare('INSERT OR REPLACE INTO heartbeat (id, at) VALUES (1, ?)').run(at)

const mailDate = (offsetMs: number) => new Date(Date.now() + offsetMs).toUTCString()

test('the mail server is reached, and its greeting is compared with the clock', async () => {
  await using box = await mailbox({ banner: 'Sendmail 8.17' })
  await using dated = await mailbox({ banner: `Sendmail 8.17; ${mailDate(0)}` })
  await using late = await mailbox({ banner: `Sendmail 8.17; ${mailDate(HOUR_MS)}` })
  await using strict = await mailbox({ authOptional: false, onAuth: (_, __, done) => done(new Error('no')) })
  const urlOf = ({ port }: { port: number }, login = '') => ({
    TAGWARDEN_SMTP_URL: `smtp://${login}127.0.0.1:${port}`,
  })
  const closed = { TAGWARDEN_SMTP_URL: `smtp://127.0.0.1:${await freePort()}` }
  const cases: [string, Record<string, string>, number, RegExp][] = [
    ['mail', urlOf(box), 0, /^ok {4}mail: the mail server accepts connections$/],
    ['clock', urlOf(box), 0, /^ok {4}clock: .+No other clock/],
    ['clock', urlOf(dated), 0, /^ok {4}clock: compared with the mail server \(\d s (?:behind|ahead of) this clock\)$/],
    [
      'clock',
      urlOf(late),
      1,
      /^WRONG clock: it differs .+ the mail server \(60 min ahead of this clock\); set the clock/,
    ],
    [
      'mail',
      urlOf(strict, 'user:pass-word@'),
      1,
      /^WRONG mail: the mail server rejected the sign-in: 535; check TAGWARDEN_SM/,
    ],
    ['mail', closed, 1, /^WRONG mail: the mail server cannot be reached: \w+; check TAGWARDEN_SMTP_URL$/],
  ]
  for (const [check, env, code, line] of cases)
    expect(await findingsOf(check, { env })).toEqual({ code, lines: [expect.stringMatching(line)] })
  expect([box, dated, late].flatMap(({ mails }) => mails)).toEqual([])
})

test('configured servers and the proxy are reached without an effect', async () => {
  await using site = receiver(() => new Response('', { status: 405, headers: { date: mailDate(0) } }))
  await using ahead = receiver(() => new Response('', { headers: { date: mailDate(2 * HOUR_MS) } }))
  const proxied: string[] = []
  await using proxy = receiver(({ method, path }) => {
    proxied.push(`${method} ${path}`)
    return new Response('', { headers: { date: mailDate(0) } })
  })
  await using locked = receiver(() => new Response('', { status: 407 }))
  const closed = `http://127.0.0.1:${await freePort()}`
  const allow = { TAGWARDEN_OUTBOUND_ALLOW: '127.0.0.1' }
  const cases: [string, Record<string, string>, number, RegExp][] = [
    [
      'outbound',
      { TAGWARDEN_HEARTBEAT_URL: `${site.url}/ping/secret` },
      0,
      /^ok .+ of TAGWARDEN_HEARTBEAT_URL answers$/,
    ],
    [
      'clock',
      { TAGWARDEN_HEARTBEAT_URL: `${site.url}/ping/secret` },
      0,
      /^ok .+ compared with the server of TAGWARDEN_H/,
    ],
    [
      'clock',
      { TAGWARDEN_OPERATOR_WEBHOOK_URL: ahead.url },
      1,
      /^WRONG .+TAGWARDEN_OPERATOR_WEBHOOK_URL \(120 min ahead/,
    ],
    [
      'outbound',
      { TAGWARDEN_HEARTBEAT_URL: `${closed}/ping` },
      1,
      /^WRONG .+ cannot be reached: ECONNREFUSED; check the URL/,
    ],
    ['proxy', { TAGWARDEN_OUTBOUND_PROXY: closed }, 1, /^WRONG proxy: .+ cannot be reached: ECONNREFUSED; check/],
    ['proxy', { TAGWARDEN_OUTBOUND_PROXY: proxy.url }, 0, /^ok .+accepts connections; no request was forwarded$/],
    [
      'outbound',
      { TAGWARDEN_OUTBOUND_PROXY: locked.url, TAGWARDEN_HEARTBEAT_URL: `${site.url}/ping/secret` },
      1,
      /^WRONG .+ cannot be reached: the proxy answered with status 407; /,
    ],
    [
      'proxy',
      { TAGWARDEN_OUTBOUND_PROXY: proxy.url, TAGWARDEN_HEARTBEAT_URL: `${site.url}/ping/secret` },
      0,
      /^ok .+ forwards requests$/,
    ],
  ]
  for (const [check, env, code, line] of cases)
    expect(await findingsOf(check, { env: { ...allow, ...env } })).toEqual({
      code,
      lines: [expect.stringMatching(line)],
    })
  expect(site.requests.map(({ method, path }) => `${method} ${path}`)).toEqual(['HEAD /', 'HEAD /'])
  expect(proxied.length).toBe(1)
})

test('Chromium is started', async () => {
  const installed = await installedChromium()
  using root = temporaryFolder()
  const broken = join(root.path, 'chromium')
  writeFileSync(broken, '#!/bin/sh\necho "FATAL: No usable sandbox!" >&2; exit 1\n', { mode: 0o755 })
  const cases: [string, number, RegExp][] = [
    [installed, 0, /^ok {4}browser: flow tests and audits use \S+, which starts/],
    [broken, 1, /^WRONG browser: .+ Chromium did not start.+No usable sandbox!; allow user namespaces/],
    ['/nowhere/chromium', 1, /^WRONG browser: flow tests and audits cannot run: TAGWARDEN_CHROMIUM is \/nowhere/],
  ]
  for (const [path, code, line] of cases)
    expect(await findingsOf('browser', { env: { TAGWARDEN_CHROMIUM: path } })).toEqual({
      code,
      lines: [expect.stringMatching(line)],
    })
  // The browser only runs without a sandbox for root.
  const { lines } = await findingsOf('settings', { env: { TAGWARDEN_CHROMIUM: installed } })
  expect(lines.some((line) => line.includes('without its sandbox'))).toBe(process.getuid?.() === 0)
})

test('versions are listed', async () => {
  const { lines } = await findingsOf('versions', {})
  expect(lines).toEqual([
    expect.stringMatching(/Tagwarden \d.+; schema \d+; Bun \d.+; DuckDB v\d.+; SQLite \d.+, kernel \S+, \w+/),
  ])
})

test('a running server is asked at its address', async () => {
  using root = temporaryFolder()
  const data = join(root.path, 'data')
  await initialize(data)
  await using server = await startServer(data)
  const serverLine = async (listen: string) => {
    const { stdout } = await runProgram(['doctor', '--data', data, '--listen', listen])
    return stdout.split('\n').find((line) => line.includes(' server: '))
  }
  expect(await serverLine(new URL(server.url).host)).toBe('ok    server: running and ready')
  expect(await serverLine(`127.0.0.1:${await freePort()}`)).toMatch(/^WARN .+does not answer at http:\S+ \(.+--listen/)
  await using other = receiver(() => new Response('hello'))
  expect(await serverLine(`127.0.0.1:${other.port}`)).toMatch(/^WARN .+another program answers/)
})

test('the clocks of senders are compared', async () => {
  using root = temporaryFolder()
  const data = join(root.path, 'data')
  const apiKey = await initialize(data)
  await using server = await startServer(data)
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ name: 'Shop' })
  const domain = await (await fetch(`${server.url}/v1/domains`, { method: 'POST', headers, body })).json()
  for (let n = 0; n < 21; n++) {
    const batch = { token: domain.token, sentAt: Date.now() - HOUR_MS, events: [{ vendor: 'Shop', event: 'view' }] }
    await fetch(`${server.url}/api/v1/events`, { method: 'POST', headers, body: JSON.stringify(batch) })
  }
  const { code, stdout } = await runProgram(['doctor', '--data', data, '--listen', new URL(server.url).host])
  expect(code).toBe(1)
  expect(stdout).toMatch(/^WRONG clock: .+ the median of the senders of events \(60 min behind this clock\)/m)
})
