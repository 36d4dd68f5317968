import { expect } from 'bun:test'
import { apiClient, type CallApi } from '../../src/configuration/api-client.ts'
import { applyPlan } from '../../src/configuration/apply.ts'
import { readDesired } from '../../src/configuration/desired.ts'
import { exportText } from '../../src/configuration/export.ts'
import { readOrganization } from '../../src/configuration/organization.ts'
import { placeholderOf } from '../../src/configuration/placeholders.ts'
import { hasChanges, planChanges, planLines } from '../../src/configuration/plan.ts'
import { readYaml } from '../../src/configuration/yaml-file.ts'
import { createKey } from '../../src/org/api-key-store.ts'
import { addMember, createOrg } from '../../src/org/store.ts'
import type { TestApp } from '../test-app.ts'

/** An organization on a test server, and the commands for it. */
export interface TestOrganization {
  orgId: string
  key: string
  call: CallApi
  export(): Promise<string>
  /** Returns the values of the placeholders in an export, as far as they can be read. */
  variables(): Promise<Record<string, string>>
  /** Returns the lines of the plan. */
  plan(files: Record<string, string>, options?: { env?: NodeJS.ProcessEnv; prune?: boolean }): Promise<string[]>
  /** Applies files and returns the steps. */
  apply(files: Record<string, string>, options?: { env?: NodeJS.ProcessEnv; prune?: boolean }): Promise<string[]>
}

let made = 0

/** Creates an organization whose owner is the owner of the server. */
export function newOrganization(world: TestApp): TestOrganization {
  const { app, clock, owner } = world
  const { userId } = owner
  const { id: orgId } = createOrg(app.db, app.box, clock, { name: `Org ${++made}` })
  addMember(app.db, clock, { orgId, userId, role: 'owner' })
  const { secret } = createKey(app.db, clock, { orgId, userId, name: 'Files', expiresInDays: null })
  return organizationOf(world, { orgId, key: secret })
}

function organizationOf(world: TestApp, { orgId, key }: { orgId: string; key: string }): TestOrganization {
  const call = apiClient({ url: 'http://localhost', key }, (request) => world.app.fetch(request))
  const prepare = async (files: Record<string, string>, env: NodeJS.ProcessEnv) => {
    const read = Object.entries(files).map(([name, text]) => readYaml(name, text))
    const organization = await readOrganization(call)
    const items = readDesired(read, organization, env)
    return { organization, plan: await planChanges(items, organization, { files: Object.keys(files), call }) }
  }
  return {
    orgId,
    key,
    call,
    export: async () => exportText(await readOrganization(call)),
    async variables() {
      const { known } = await readOrganization(call)
      return Object.fromEntries(
        [...known].flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
      )
    },
    async plan(files, { env = {}, prune = false } = {}) {
      const { plan } = await prepare(files, env)
      return planLines(plan, { prune })
    },
    async apply(files, { env = {}, prune = false } = {}) {
      const { plan, organization } = await prepare(files, env)
      const steps: string[] = []
      await applyPlan(plan, { call, organization, done: (step) => void steps.push(step) }, prune)
      if (!hasChanges(plan, { prune })) expect(steps).toEqual([])
      return steps
    },
  }
}

const SECRET = 'whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE='
const URL_TARGET = 'https://hooks.example.com/alerts'

/** Values of the placeholders in the export of `configureAll`. */
export const ENV = {
  ON_CALL_URL: 'https://hooks.example.com/tags',
  ON_CALL_SECRET: SECRET,
  TICKETS_API_TOKEN: 'a-token',
  BUY_PASSWORD: 'correct horse',
  WEBHOOK_URL_042D74: URL_TARGET,
}

/** Creates items of every kind by hand, in an organization that has none. */
export async function configureAll({ call }: TestOrganization): Promise<void> {
  const make = async (path: string, body: object) => String((await call('POST', path, body)).id)
  const shop = await make('/v1/domains', { name: 'Shop', monitoredUrls: ['https://shop.example/'] })
  const blog = await make('/v1/domains', { name: 'Blog', system: 'server', vendors: [{ vendorName: 'Meta Pixel' }] })
  await call('PUT', `/v1/domains/${shop}/capture`, { sampleRate: { prod: 0.5 }, sessionMode: 'sessionStorage' })
  await call('PUT', `/v1/domains/${shop}/endpoint`, { mode: 'custom', hostname: 'collect.shop.example' })
  await call('PUT', `/v1/domains/${blog}/page-view-sampling`, { prodRate: 0.25 })
  const shops = await make('/v1/projects', { name: 'Shops', domainIds: [shop] })
  const onCall = await make('/v1/integrations', {
    provider: 'webhook',
    label: 'On call',
    config: { url: ENV.ON_CALL_URL, secret: SECRET, notify: ['opened', 'resolved'] },
  })
  const tickets = await make('/v1/integrations', {
    provider: 'issue_tracker',
    label: 'Tickets',
    config: {
      url: 'https://acme.atlassian.net',
      email: 'a@example.com',
      apiToken: ENV.TICKETS_API_TOKEN,
      project: 'OPS',
    },
  })
  await call('POST', '/v1/insights/labels/assign', {
    label: 'Checkout',
    kind: 'group',
    members: [
      { vendor: 'Meta Pixel', event: 'InitiateCheckout' },
      { vendor: 'Google Analytics 4', event: '' },
    ],
  })
  const [label] = (await call('GET', '/v1/insights/labels')).labels as { id: string }[]
  await make('/v1/calendars', { name: 'Bavaria', country: 'de-by' })
  await make('/v1/calendars', { name: 'Sales', ics: ICS })
  await make('/v1/maintenance', {
    name: 'Weekly deployment',
    domainIds: [shop, blog],
    projectId: shops,
    from: Date.UTC(2026, 0, 6, 2),
    to: Date.UTC(2026, 0, 6, 4, 0, 0, 500),
    rrule: 'FREQ=WEEKLY;BYDAY=TU',
    timezone: 'Europe/Berlin',
  })
  const alert = {
    alertType: 'data_validation',
    period: '1h',
    conditions: {
      logic: 'any',
      items: [
        { parameter: 'value', op: 'equals', values: [placeholderOf('NOT_A_VARIABLE'), `$${placeholderOf('x')}`] },
      ],
    },
  }
  const owners = { type: 'email', target: 'owners' }
  const hook = { type: 'webhook', target: URL_TARGET }
  await make('/v1/alerts', {
    ...alert,
    name: 'Purchase without id',
    domainId: shop,
    channels: [owners, { type: 'webhook', target: onCall }, { type: 'issue_tracker', target: `${tickets}:WEB` }, hook],
    escalation: { steps: [{ afterMinutes: 30, channels: [hook] }] },
    severity: 'high',
  })
  await make('/v1/alerts', { ...alert, name: 'Purchase without id', domainIds: [blog, shop], channels: [owners] })
  await make('/v1/alerts', { ...alert, name: '404 Überblick', enabled: false, vendors: [], channels: [owners] })
  await make('/v1/flows/tests', {
    name: 'Buy',
    domainId: shop,
    recording: { title: 'Buy', steps: [{ type: 'navigate', url: 'https://shop.example/' }] },
    secrets: { password: ENV.BUY_PASSWORD },
    schedule: '0 6 * * *',
    channels: [owners],
  })
  const { userId } = await call('GET', '/v1/whoami')
  await call('PUT', '/v1/org/ownership', {
    rules: [
      { match: { domainId: shop, projectId: shops, labelId: label?.id, pathPrefix: '/x' }, assigneeId: userId },
      { match: {}, assigneeId: null, channels: [owners] },
    ],
  })
  await call('PUT', '/v1/org/escalation', { steps: [{ afterMinutes: 60, channels: [owners] }] })
  await call('PUT', '/v1/orders/capture', {
    rules: [{ domainId: shop, vendor: 'Google Analytics 4', minCapturePct: 90, channels: [hook] }],
  })
}

const ICS = [
  'BEGIN:VCALENDAR',
  'VERSION:2.0',
  'PRODID:-//Test//Test//EN',
  'BEGIN:VEVENT',
  'UID:1',
  'DTSTAMP:20260101T000000Z',
  'DTSTART;VALUE=DATE:20260620',
  'SUMMARY:Summer sale',
  'END:VEVENT',
  'END:VCALENDAR',
  '',
].join('\r\n')
