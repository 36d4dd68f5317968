import { afterAll, beforeAll } from 'bun:test'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/core/clock.ts'
import type { RunFacts } from '../../src/flows/run-store.ts'
import { findingOf } from '../../src/issues/issue.fixture.ts'
import { createKey } from '../../src/org/api-key-store.ts'
import { addMember, createUser } from '../../src/org/store.ts'
import { storeAudit } from '../audits/finished-audit.fixture.ts'
import { startBrowser, type TestBrowser } from '../browser/chromium.ts'
import { aRun, storeRun } from '../flows/finished-run.fixture.ts'
import type { TestApp } from '../test-app.ts'
import { create, startTestServer, type TestServer } from './test-server.ts'

/** Maximum length of most names, in UTF-16 code units. */
const LONG = 200

/**
 * Hostile values for free-text fields: markup, templates, script URLs, unbreakable text, right-to-left text and emoji.
 */
const KINDS = {
  markup: '<img src=x onerror="document.documentElement.dataset.ran=1"></script><script>alert(1)</script>',
  template: "{{constructor.constructor('alert(1)')()}} <%= 7*7 %> {{7*7}}",
  address: 'javascript:document.documentElement.dataset.ran=1//',
  unbroken: 'W'.repeat(LONG),
  rightToLeft: 'חנות בגדים ونموذج طويل من الاسم العربي (1) 20%',
  override: '\u202eesrever\u2067 detalosi \u2066 gnihtyna',
  /** A property that every JavaScript object inherits. */
  property: 'constructor',
  emoji: '👩‍👩‍👧‍👦🏳️‍🌈🇩🇪👍🏽'.repeat(4),
}

type NameKind = keyof typeof KINDS
const NAME_KINDS = Object.keys(KINDS) as NameKind[]

/** Returns the name of this kind, truncated to at most `max` UTF-16 code units without splitting a code point. */
function nameOf(kind: NameKind, max = LONG): string {
  return truncate(KINDS[kind], max)
}

/** Returns a name of the maximum length that combines several kinds. */
const worst = (max = LONG) =>
  truncate(
    `${KINDS.emoji.slice(0, 11)}\u202e<img src=x onerror=document.title=1>"'&{{7*7}}שלום${'W'.repeat(LONG)}`,
    max,
  )

function truncate(text: string, max: number): string {
  let result = ''
  for (const letter of text) {
    if (result.length + letter.length > max) break
    result += letter
  }
  return result
}

/** An image of one pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
/** A host name of almost the maximum length. */
const HOST = `${'w'.repeat(63)}.${'w'.repeat(63)}.${'w'.repeat(63)}.example`
const ADDRESS = `https://${HOST}/${'x'.repeat(900)}`
const RUNS = 'javascript:document.documentElement.dataset.ran=1'
/** Number of days with events. A signal requires events on three days. */
const DAYS = 4

/**
 * Returns all names, truncated to the same length. The combined name is last, because lists show the newest item first,
 * and tests open the first item.
 */
const names = (most: number) => [...NAME_KINDS.map((kind) => nameOf(kind, most)), worst(most)]

/** Provides a hostile server and a browser that all tests in a file share. */
export function sharedHostileServer(): {
  readonly server: TestServer
  readonly browser: TestBrowser
} {
  const here = {} as { server: TestServer; browser: TestBrowser }
  beforeAll(async () => {
    ;[here.server, here.browser] = await Promise.all([startHostileServer(), startBrowser()])
  })
  afterAll(async () => {
    await here.browser?.[Symbol.asyncDispose]()
    await here.server?.[Symbol.asyncDispose]()
  })
  return here
}

/** Starts a server on which every free-text field contains hostile values. */
async function startHostileServer(): Promise<TestServer> {
  const server = await startTestServer()
  const { app } = server
  app.clock.set(Date.now() - DAYS * DAY_MS)
  await organization(app)
  const { id: domainId, token } = await domains(app)
  for (let day = 0; day < DAYS; day++) {
    await traffic(app, token)
    app.clock.advance(DAY_MS)
  }
  app.clock.set(Date.now() - 2 * HOUR_MS)
  await traffic(app, token)
  await rules(app, domainId)
  await things(app, domainId)
  people(app)
  app.clock.set(Date.now())
  await traffic(app, token)
  await app.run('evaluate', 'evaluate series', 'scan for personal data', 'check consent', 'evaluate changes', 'deliver')
  issuesOf(server, domainId, runs(app))
  return server
}

/** Creates an item one second after the previous one. */
function make(app: TestApp, path: string, body: object, method?: 'PATCH') {
  app.clock.advance(SECOND_MS)
  return create(app, path, body, method)
}

async function organization(app: TestApp): Promise<void> {
  const piiPatterns = [
    { name: 'w'.repeat(40), pattern: 'EMP-[0-9]{6}' },
    { name: 'constructor', pattern: 'CON-[0-9]{6}' },
  ]
  await make(app, '/v1/org', { name: worst(), piiPatterns }, 'PATCH')
  await make(app, '/v1/whoami', { name: worst() }, 'PATCH')
  for (const label of names(100)) {
    await make(app, '/v1/integrations', { provider: 'webhook', label, config: { url: ADDRESS } })
  }
}

/** Creates a domain for each name. Returns the domain whose name combines several kinds. */
async function domains(app: TestApp): Promise<{ id: string; token: string }> {
  const monitoredUrls = [RUNS, `https://${HOST}/${'p'.repeat(40)}`]
  const all = []
  for (const name of names(200)) all.push(await make(app, '/v1/domains', { name, monitoredUrls }))
  const last = all.at(-1)
  for (const name of names(100)) await make(app, '/v1/projects', { name, domainIds: [last.id] })
  return last
}

/** Sends sessions of several pages with events of every name, and batches that are rejected. */
async function traffic(app: TestApp, token: string): Promise<void> {
  const pageStats = { vendors: [{ host: HOST, requests: 2, durMs: [40, 60], bytes: 2000 }] }
  for (const [index, name] of names(200).entries()) {
    const personal = { email: 'john.doe@mail.example.com', ep: 'EMP-123456', constructor: 'CON-123456' }
    const params = { [name]: name, order_id: index % 2 ? '' : name, ...personal }
    const event = { vendor: name, event: name, account: name, status: 'failure', execMs: 9, params }
    const events = [event, { ...event, vendor: 'Shop', event: 'purchase' }]
    for (const path of ['/', `/${'p'.repeat(300)}`, `/${encodeURIComponent(name)}`]) {
      const page = { url: `https://${HOST}${path}`, title: name }
      await app.collect(token, { sessionId: `session-${index}`, page, events, pageStats })
    }
    await app.collect(token, { events: [{ vendor: name, [name]: 1 }] })
  }
  app.clock.advance(MINUTE_MS)
  await app.run('flush')
}

/** Creates an alert for each name, and an anomaly alert. */
async function rules(app: TestApp, domainId: string): Promise<void> {
  const channels = [
    { type: 'email', target: `${'e'.repeat(60)}@${HOST.slice(64)}` },
    { type: 'webhook', target: ADDRESS },
  ]
  const volume = { vendor: worst(), event: worst() }
  await make(app, '/v1/alerts', { name: worst(), alertType: 'volume_anomaly', period: '1h', channels, volume })
  for (const name of names(200)) {
    const filters = [{ parameter: '$event', op: 'equals', values: [name] }]
    const items = [
      { parameter: 'order_id', op: 'is_blank' },
      { parameter: name, op: 'equals', values: [name] },
    ]
    const alert = { name, domainId, vendors: [name], alertType: 'data_validation', period: '1h', channels, filters }
    await make(app, '/v1/alerts', { ...alert, conditions: { logic: 'any', items } })
  }
}

async function things(app: TestApp, domainId: string): Promise<void> {
  const members = names(200).map((name) => ({ vendor: name, event: name }))
  for (const label of names(80)) await make(app, '/v1/insights/labels/assign', { label, members })
  for (const title of names(200)) {
    const occurredAt = app.clock.now() - MINUTE_MS
    await make(app, '/v1/changes', { domainId, source: 's'.repeat(40), ref: title, title, occurredAt })
  }
  const orders = names(200).map((id) => ({ id, at: app.clock.now() - MINUTE_MS, value: 1e11, currency: 'EUR' }))
  await make(app, '/v1/orders', { domainId, orders })
  for (const name of names(200)) {
    app.clock.advance(SECOND_MS)
    storeAudit(app.app.db, app.clock.now(), { orgId: app.owner.orgId, name, text: name })
  }
}

function people({ app: { db }, clock, owner }: TestApp): void {
  for (const [index, name] of names(100).entries()) {
    const email = `${'m'.repeat(60)}${index}@${HOST.slice(64)}`
    const { id: userId } = createUser(db, clock, { email, name })
    addMember(db, clock, { orgId: owner.orgId, userId, role: 'member' })
    createKey(db, clock, { userId, orgId: owner.orgId, name, expiresInDays: null })
  }
}

/** Creates a test run for each name. Returns the id of the last run. */
function runs(app: TestApp): string {
  let id = ''
  for (const name of names(200)) {
    app.clock.advance(SECOND_MS)
    id = storeRun(app, withName(aRun(), name), { name, picture: () => PNG })
  }
  return id
}

/** Returns the run with the name in every string that a page or a person can determine. */
function withName(facts: RunFacts, name: string): RunFacts {
  const tag = { vendor: name, event: name }
  return {
    ...facts,
    findings: facts.findings.map((one) => ({ ...one, ...tag, sentence: name, expected: name, observed: name })),
    events: facts.events.map((one) => ({ ...one, ...tag, params: { [name]: name } })),
    steps: facts.steps.map((step) => ({
      ...step,
      title: name,
      error: step.error && name,
      healed: step.healed && { before: name, after: name },
    })),
    errors: [name],
  }
}

/**
 * Creates issues that opened a week ago, so that the last weekly report also contains them. The first issue was found
 * by a run.
 */
function issuesOf(server: TestServer, domainId: string, runId: string): void {
  const { clock, owner } = server.app
  const times = { firstSeenAt: clock.now() - 7 * DAY_MS, statusAt: clock.now() - 7 * DAY_MS }
  server.openIssues(
    names(200)
      .reverse()
      .map((title, index) => {
        const found = {
          summary: title,
          vendor: title,
          event: title,
          hosts: [HOST],
          sample: { [title]: title } as never,
        }
        return {
          ...times,
          title,
          domainId,
          hosts: [HOST, 'b.example'],
          notes: `${title} ${title}`,
          alertName: title,
          trackerKey: title.slice(0, 100),
          statusBy: owner.userId,
          impactValue: 123_456_789_012,
          severity: 'critical' as const,
          ...(index === 0 && { alertType: 'flow_test' }),
          evidence: findingOf(index === 0 ? { ...found, runId } : found),
        }
      }),
  )
}
