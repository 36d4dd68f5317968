import { expect } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beginRecord } from '../../src/backups/store.ts'
import { addCollector, listCollectors } from '../../src/collectors/store.ts'
import { recordSightings } from '../../src/compliance/store.ts'
import { PLAIN_PRIVACY } from '../../src/conditions/privacy-settings.ts'
import { DAY_MS, HOUR_MS } from '../../src/core/clock.ts'
import { createDomain } from '../../src/domains/store.ts'
import { saveLearned, storedFlowTest } from '../../src/flows/store.ts'
import { REPORT_EXAMPLE } from '../../src/gate/report.ts'
import { storeGateRun } from '../../src/gate/store.ts'
import { assign, listLabels } from '../../src/labels/store.ts'
import { createKey } from '../../src/org/api-key-store.ts'
import { invite } from '../../src/org/member-store.ts'
import { newResetToken } from '../../src/org/password-reset.ts'
import { openSession } from '../../src/org/session.ts'
import { addMember, createUser } from '../../src/org/store.ts'
import { createView } from '../../src/saved-views/store.ts'
import { storeAudit } from '../audits/finished-audit.fixture.ts'
import { sessionIdOf } from '../fixtures.ts'
import { aRun, storeRun } from '../flows/finished-run.fixture.ts'
import type { TestApp } from '../test-app.ts'
import { nounsOf, type Route } from './openapi-routes.ts'
import { PASSWORD, type Person, type TestTenant } from './two-tenants.ts'

/** The organization in which resources are created, the API key that creates them, and the member who owns them. */
interface Maker {
  world: TestApp
  tenant: TestTenant
  /** Owner of personal resources. Default: the organization's owner. */
  userId?: string
}

let made = 0

const alert = {
  alertType: 'data_validation',
  conditions: { logic: 'any', items: [{ parameter: 'value', op: 'is_blank' }] },
  period: '1h',
  channels: [{ type: 'email', target: 'ann@example.com' }],
}

/** Calls the API as the owner and returns the response body. */
export async function make({ world, tenant }: Maker, path: string, body: object) {
  const answer = await world.call('POST', path, { as: tenant.people.owner.key, body })
  expect({ path, ...answer }).toMatchObject({ path, status: 201 })
  return answer.body
}

async function makeIssue(maker: Maker, channels: object[] = alert.channels): Promise<string> {
  const { world, tenant } = maker
  const domain = await make(maker, '/v1/domains', { name: `Violated ${++made}` })
  const { id } = await make(maker, '/v1/alerts', { ...alert, name: `Rule ${made}`, domainId: domain.id, channels })
  await world.collect(domain.token, {
    page: { url: 'https://shop.example/' },
    events: [{ vendor: 'Shop', event: 'buy', params: { to: 'x' } }],
  })
  world.clock.advance(1)
  await world.run('evaluate', 'deliver')
  const { body } = await world.call('GET', `/v1/issues?alertId=${id}`, { as: tenant.people.owner.key })
  return body.issues[0].id
}

/** Creates a flow test in which a healed step waits for approval. */
async function makeFlowTest(maker: Maker): Promise<string> {
  const steps = [
    { type: 'navigate', url: 'https://shop.example/' },
    { type: 'click', selectors: ['#buy'] },
  ]
  const body = { name: `Buy ${++made}`, recording: { title: 'Buy', steps }, channels: alert.channels }
  const { id, orgId } = await make(maker, '/v1/flows/tests', body)
  const { db } = maker.world.app
  const healing = [{ step: 1, before: '#buy', after: 'text/Buy', runId: 'run_none', at: maker.world.clock.now() }]
  saveLearned(db, storedFlowTest(db, { orgId, id }), { healing })
  return id
}

const INTEGRATION = { provider: 'webhook', config: { url: 'https://hooks.example.com/a' } }
const TEAMS_BOT = { provider: 'office_chat', config: { appId: 'a-bot', appPassword: 'its-secret' } }
const SLACK_BOT = { provider: 'team_chat', config: { botToken: 'xoxb-1' } }

const CALENDAR = [
  'BEGIN:VCALENDAR',
  'VERSION:2.0',
  'PRODID:test',
  'BEGIN:VEVENT',
  'UID:1',
  'DTSTART;VALUE=DATE:20261225',
  'SUMMARY:Christmas',
  'END:VEVENT',
  'END:VCALENDAR',
].join('\r\n')

/** Functions that create a resource and return its id, by kind of id in the path of a route. */
const MAKERS: Record<string, (maker: Maker) => Promise<string>> = {
  domains: async (maker) => (await make(maker, '/v1/domains', { name: `Shop ${++made}` })).id,
  projects: async (maker) => (await make(maker, '/v1/projects', { name: `Project ${++made}` })).id,
  async labels({ world: { app, clock }, tenant: { orgId } }) {
    assign(app.db, clock, orgId, { label: `Label ${++made}`, members: [{ vendor: 'Shop', event: 'buy' }] })
    return listLabels(app.db, orgId, { limit: 200 }).items.at(-1)?.id ?? ''
  },
  alerts: async (maker) => (await make(maker, '/v1/alerts', { ...alert, name: `Rule ${++made}` })).id,
  integrations: async (maker) => (await make(maker, '/v1/integrations', INTEGRATION)).id,
  office_chat: async (maker) =>
    (await make(maker, '/v1/integrations', { ...TEAMS_BOT, config: { ...TEAMS_BOT.config, appId: `bot-${++made}` } }))
      .id,
  team_chat: async (maker) => (await make(maker, '/v1/integrations', SLACK_BOT)).id,
  issues: (maker) => makeIssue(maker),
  async audits({ world: { app, clock }, tenant: { orgId } }) {
    return storeAudit(app.db, clock.now(), { orgId, name: `Audit ${++made}` })
  },
  'gate-runs': async ({ world: { app, clock }, tenant: { orgId } }) =>
    storeGateRun(app.db, orgId, { ...REPORT_EXAMPLE, domainId: null, findings: [], checks: [] }, clock.now()).id,
  async deliveries(maker) {
    const path = `/v1/notifications/deliveries?issueId=${await makeIssue(maker)}`
    return (await maker.world.call('GET', path, { as: maker.tenant.people.owner.key })).body.deliveries[0].id
  },
  async keys({ world: { app, clock }, tenant, userId = tenant.people.owner.userId }) {
    return createKey(app.db, clock, { userId, orgId: tenant.orgId, name: 'victim', expiresInDays: null }).id
  },
  async sessions({ world: { app, clock }, tenant, userId = tenant.people.owner.userId }) {
    return sessionIdOf(openSession(app.db, clock, userId, 'password').token)
  },
  async views({ world: { app, clock }, tenant: { orgId, people }, userId = people.owner.userId }) {
    const view = { page: 'issues', name: 'Critical', search: '' } as const
    return createView(app.db, { orgId, userId }, view, clock.now()).id
  },
  backups: async ({ world: { app, clock } }) => beginRecord(app.db, '/var/backups', clock.now()),
  // Belongs to the server, which can have 63.
  collectors: async ({ world: { app, clock } }) =>
    (listCollectors(app.db)[0] ?? addCollector(app.db, clock, 'frankfurt-1').collector).id,
  calendars: async (maker) => (await make(maker, '/v1/calendars', { name: `Calendar ${++made}`, ics: CALENDAR })).id,
  async maintenance(maker) {
    const from = maker.world.clock.now() + DAY_MS
    const times = { from, to: from + HOUR_MS, timezone: 'UTC' }
    return (await make(maker, '/v1/maintenance', { name: `Release ${++made}`, ...times })).id
  },
  tests: (maker) => makeFlowTest(maker),
  // A run that passed and has every subresource.
  async runs({ world, tenant: { orgId } }) {
    const id = storeRun(world, { ...aRun(), findings: [] }, { orgId, picture: () => new Uint8Array([0x89]) })
    writeFileSync(join(world.folder, 'runs', id, 'requests.har'), '{"log":{}}')
    return id
  },
  async members({ world: { app, clock }, tenant: { orgId } }) {
    const { id: userId } = createUser(app.db, clock, { email: `victim-${++made}@people.example` })
    addMember(app.db, clock, { orgId, userId, role: 'member' })
    return userId
  },
}

/** Kinds of resources that have ids. */
export const NOUNS = Object.keys(MAKERS)

/** Creates one resource of each given kind and returns the ids by kind. Throws for an unknown kind. */
export async function oneOf(nouns: Iterable<string>, maker: Maker): Promise<Record<string, string>> {
  const ids: Record<string, string> = {}
  for (const noun of new Set(nouns)) {
    const makeIt = MAKERS[noun]
    if (!makeIt) throw new Error(`cannot create ${noun}: add it to MAKERS in test/api/valid-calls.ts`)
    ids[noun] = await makeIt(maker)
  }
  return ids
}

const PREFIXES: Record<string, string> = {
  dom: 'domains',
  prj: 'projects',
  alr: 'alerts',
  int: 'integrations',
  iss: 'issues',
  dlv: 'deliveries',
  key: 'keys',
  usr: 'members',
  lbl: 'labels',
  tst: 'tests',
  run: 'runs',
}
const ID = /"([a-z]{2,4})_[0-9a-hjkmnp-tv-z]{26}"/g

/** Returns the kinds of ids that the example body of a route contains. */
const nounsOfBody = ({ example }: Route): string[] =>
  [...JSON.stringify(example ?? null).matchAll(ID)].map(([, prefix = '']) => PREFIXES[prefix] ?? prefix)

/** Returns the example body of a route with its ids replaced; undefined if the route has no body. */
function acceptedBody({ example }: Route, ids: Record<string, string>): Record<string, unknown> | undefined {
  if (example === undefined) return undefined
  const text = JSON.stringify(example).replaceAll(ID, (_, prefix: string) => `"${ids[PREFIXES[prefix] ?? prefix]}"`)
  return JSON.parse(text)
}

/** Invites an e-mail address to an organization and returns the token. */
function tokenFor({ world, tenant: { orgId } }: Maker, email: string): string {
  return invite(world.app.db, world.clock, { orgId, email, role: 'member' }).token
}

/** Body fields whose valid values depend on the test data, by id of the route. */
const KNOWN: Record<string, (maker: Maker, elsewhere: TestTenant) => Record<string, unknown>> = {
  signIn: (maker) => ({ email: callerOf(maker).email, password: PASSWORD }),
  acceptInvitation: (maker) => ({ token: tokenFor(maker, newAddress()) }),
  forgotPassword: () => ({ email: newAddress() }),
  resetPassword: (maker) => ({
    token: newResetToken(maker.world.app.db, maker.world.clock, callerOf(maker).userId),
  }),
  unassignLabel({ world: { app, clock }, tenant: { orgId } }) {
    const members = [{ vendor: 'Shop', event: 'buy' }]
    assign(app.db, clock, orgId, { label: 'Bought', members })
    return { label: 'Bought', members }
  },
  decideFinding({ world: { app, clock }, tenant: { orgId } }) {
    const domainId = createDomain(app.db, clock, orgId, { name: `Shop ${++made}` })
    const about = { vendor: 'Shop', key: 'mail', kind: 'email' }
    const seen = { count: 1, example: 'jane@example.com', firstSeenAt: clock.now(), lastSeenAt: clock.now() }
    recordSightings(app.db, [{ orgId, domainId, ...about, ...seen }], { privacyOf: () => PLAIN_PRIVACY })
    return about
  },
  joinOrganization: (maker, tenant) => ({ token: tokenFor({ ...maker, tenant }, callerOf(maker).email) }),
}

const callerOf = ({ tenant: { people }, userId }: Maker): Person =>
  Object.values(people).find((person) => person.userId === userId) ?? people.owner

/** Returns an e-mail address that has not been used. */
export const newAddress = () => `guest-${++made}@people.example`

/**
 * Returns the path ids and a valid body for a call, and creates the resources that they refer to. `elsewhere` is an
 * organization to which the caller does not belong.
 */
export async function acceptedCall(route: Route, maker: Maker, elsewhere: TestTenant) {
  const ids = await oneOf([...nounsOf(route), ...nounsOfBody(route)], maker)
  const body = acceptedBody(route, ids)
  return { ids, body: body && { ...body, ...KNOWN[route.id]?.(maker, elsewhere) } }
}

/** Values that only some roles may see, planted in channels, integrations and invitations. */
export const PLANTED = {
  mail: 'planted@targets.example',
  hook: 'https://hooks.example.com/planted-target',
  gone: 'https://gone.example.com/planted-target',
  slack: 'https://hooks.example.com/services/T0/B0/planted-slack',
  workflow: 'https://flows.example.com/workflows/1?sig=planted-workflow',
  config: 'https://hooks.example.com/planted-setting',
  secret: `whsec_${Buffer.from('planted secret of a webhook').toString('base64')}`,
  invited: 'planted-invitation@people.example',
}

/** Creates one resource of each kind with planted secrets. Returns the ids and the generated secrets. */
export async function createObjects(maker: Maker) {
  const ids = await oneOf(NOUNS, maker)
  ids.integrations = (
    await make(maker, '/v1/integrations', {
      provider: 'webhook',
      config: { url: PLANTED.config, secret: PLANTED.secret },
    })
  ).id
  const targets = [
    { type: 'email', target: PLANTED.mail },
    { type: 'webhook', target: PLANTED.hook },
    { type: 'webhook', target: PLANTED.gone },
    { type: 'team_chat', target: PLANTED.slack },
    { type: 'office_chat', target: PLANTED.workflow },
    { type: 'webhook', target: ids.integrations },
  ]
  ids.issues = await makeIssue(maker, targets)
  const issue = await maker.world.call('GET', `/v1/issues/${ids.issues}`, { as: maker.tenant.people.owner.key })
  ids.alerts = issue.body.alertId
  ids.domains = issue.body.domainId
  const domain = await maker.world.call('GET', `/v1/domains/${ids.domains}`, { as: maker.tenant.people.owner.key })
  const { inviteToken } = await make(maker, '/v1/org/members', { email: PLANTED.invited, role: 'viewer' })
  return { ids, propertyToken: String(domain.body.token), inviteToken: String(inviteToken) }
}
