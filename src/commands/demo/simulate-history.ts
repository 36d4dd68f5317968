import type { AlertInput } from '../../alerts/alert.ts'
import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS, SECOND_MS } from '../../core/clock.ts'
import { batchesOf } from './encode-events.ts'
import { createFlowTests, type FlowTestIds } from './run-sample-flow-tests.ts'
import { type CheckedRelease, runSampleGate } from './run-sample-gate.ts'
import { CART_WITHOUT_CURRENCY, firstAlerts, LEAKING_FORM, sampleAlerts, UNTITLED_VIDEO } from './sample-alerts.ts'
import type { SampleOrganization } from './sample-organization.ts'
import { type DemoTimeline, HOSTS, type SampleSites, VERSIONS } from './sample-sites.ts'
import type { Call, SimulatedProgram } from './simulated-program.ts'
import { LEAK_DAYS } from './simulated-shop.ts'
import type { Order, SiteEvent } from './simulated-site.ts'

/** An action in the simulated history, with its time. */
interface Act {
  at: Instant
  do(): Promise<unknown>
  /** The jobs to run after the action. Absent when there are none. */
  jobs?: readonly string[]
}

/** A rule that was violated in the first weeks, and how members responded. */
interface Trouble {
  alert: string
  /**
   * Start of the period in which events that violate the rule go through the collector, so that they are validated. It
   * ends at `to`.
   */
  from: Instant
  to: Instant
  isBrokenBy(event: SiteEvent): boolean
  answers: { by: 'mara' | 'jonas'; at(first: Instant): Instant; status: string; notes: string }[]
}

/** Maximum number of orders per request. */
const ORDERS_AT_ONCE = 1000
const STEP_MS = 2 * MINUTE_MS
/** Delay before a pipeline reports a release. By then, the first visitors have already used it. */
const TOLD_MS = 6 * MINUTE_MS
/** Time between the check of a release in the pipeline and its first visitors. */
const CHECKED_MS = 20 * MINUTE_MS
/** Delay before members notice that the outlet has stopped sending events. */
const FOUND_AFTER_MS = 4 * HOUR_MS

function troublesOf({ untitledAt, leakedAt, harmfulAt }: DemoTimeline): Trouble[] {
  const healedAt = leakedAt + LEAK_DAYS * DAY_MS
  return [
    {
      alert: UNTITLED_VIDEO,
      from: untitledAt,
      to: untitledAt + DAY_MS,
      isBrokenBy: ({ event, params }) => event === 'video_start' && !('ep.video_title' in params),
      answers: [
        {
          by: 'mara',
          at: (first) => first + 3 * HOUR_MS,
          status: 'muted',
          notes: 'The video player on this page is from a third party and sends no titles. Known issue.',
        },
      ],
    },
    {
      alert: LEAKING_FORM,
      from: leakedAt,
      to: healedAt,
      isBrokenBy: ({ params }) => 'ep.form_field' in params,
      answers: [
        {
          by: 'mara',
          at: (first) => first + 48 * MINUTE_MS,
          status: 'acknowledged',
          notes: 'The newsletter form copies the e-mail address into a parameter. Jonas is removing it.',
        },
        {
          by: 'jonas',
          at: () => healedAt + HOUR_MS,
          status: 'resolved',
          notes: 'The fix is live. No more violations since then.',
        },
      ],
    },
    {
      alert: CART_WITHOUT_CURRENCY,
      from: harmfulAt,
      to: harmfulAt + 8 * HOUR_MS,
      isBrokenBy: ({ host, event, params }) =>
        host === HOSTS.shop && event === 'add_to_cart' && !('ep.currency' in params),
      answers: [],
    },
  ]
}

/**
 * Separates the events that violate a rule in the first weeks from all others. Only the others can be imported, because
 * imported events open no issues.
 */
export function splitViolating(
  events: readonly SiteEvent[],
  plot: DemoTimeline,
): { noticed: SiteEvent[]; others: SiteEvent[] } {
  const troubles = troublesOf(plot)
  const isNoticed = (event: SiteEvent) =>
    troubles.some(({ from, to, isBrokenBy }) => event.at >= from && event.at < to && isBrokenBy(event))
  const { noticed = [], others = [] } = Object.groupBy(events, (one) => (isNoticed(one) ? 'noticed' : 'others'))
  return { noticed, others }
}

/**
 * Simulates the time from the day on which the organization joined until the last days. `noticed` contains the
 * violating events from `splitViolating`.
 */
export async function simulateFirstWeeks(
  days: SimulatedProgram,
  sample: SampleOrganization,
  plot: DemoTimeline,
  { noticed, webhookUrl }: { noticed: readonly SiteEvent[]; webhookUrl: string },
): Promise<SampleObjects> {
  const made = await setUp(days.as(sample.owner.key), sample, webhookUrl)
  const troubles = troublesOf(plot)
  const arrivals = noticed.map((event) => ({
    at: event.at,
    do: () => days.collect(batchesOf([event], event.at), sample.tokens),
    ...(troubles.some(({ isBrokenBy }) => noticed.find(isBrokenBy) === event) ? { jobs: ['evaluate', 'deliver'] } : {}),
  }))
  const acts: Act[] = [...arrivals, ...actsOf(days, sample, plot, { noticed, alertIds: made.alertIds })]
  for (const { at, do: act, jobs } of acts.sort((a, b) => a.at - b.at)) {
    days.until(at)
    await act()
    if (!jobs) continue
    // Events received in one millisecond are evaluated in the next one.
    days.until(at + SECOND_MS)
    await days.run(...jobs)
  }
  days.until(plot.collectedAt)
  await days.run('evaluate', 'deliver')
  return made
}

/** Objects that the organization created on its first day. */
export interface SampleObjects {
  /** Alert ids by name. */
  alertIds: ReadonlyMap<string, string>
  /** Id of the integration that notifies the person on call. */
  onCall: string
}

async function setUp(
  owner: Call,
  {
    domainIds: { [HOSTS.shop]: shop = '', [HOSTS.outlet]: outlet = '', [HOSTS.magazine]: magazine = '' },
  }: SampleOrganization,
  webhookUrl: string,
): Promise<SampleObjects> {
  await owner('PATCH', '/v1/org', { currency: 'EUR' })
  await owner('POST', '/v1/projects', { name: 'Shops', domainIds: [shop, outlet] })
  await owner('POST', '/v1/projects', { name: 'Content', domainIds: [magazine] })
  for (const [label, members] of Object.entries(LABELS)) {
    await owner('POST', '/v1/insights/labels/assign', {
      label,
      kind: 'step',
      members: members.map(([vendor, event]) => ({ vendor, event })),
    })
  }
  const hook = { provider: 'webhook', label: 'On call', config: { url: webhookUrl } }
  const { id: onCall } = (await owner('POST', '/v1/integrations', hook)) as { id: string }
  return { onCall, alertIds: await makeAlerts(owner, firstAlerts({ shop, magazine }, onCall)) }
}

const LABELS: Record<string, [vendor: string, event: string][]> = {
  Product: [
    ['Google Analytics 4', 'view_item'],
    ['Meta Pixel', 'ViewContent'],
  ],
  Cart: [
    ['Google Analytics 4', 'add_to_cart'],
    ['Meta Pixel', 'AddToCart'],
  ],
  Checkout: [['Google Analytics 4', 'begin_checkout']],
  Purchase: [
    ['Google Analytics 4', 'purchase'],
    ['Meta Pixel', 'Purchase'],
    ['Google Ads', 'conversion'],
    ['TikTok Pixel', 'CompletePayment'],
  ],
}

async function makeAlerts(owner: Call, alerts: readonly AlertInput[]): Promise<Map<string, string>> {
  const ids = new Map<string, string>()
  for (const alert of alerts) {
    const { id } = (await owner('POST', '/v1/alerts', alert)) as { id: string }
    ids.set(alert.name, id)
  }
  return ids
}

/** Returns the actions of the organization's members and deployment pipelines. */
function actsOf(
  days: SimulatedProgram,
  { keys, domainIds }: SampleOrganization,
  plot: DemoTimeline,
  { noticed, alertIds }: { noticed: readonly SiteEvent[]; alertIds: ReadonlyMap<string, string> },
): Act[] {
  const calls = { mara: days.as(keys.mara), jonas: days.as(keys.jonas) }
  const release = (at: Instant, version: number, title: string): Act => ({
    at,
    do: () =>
      calls.jonas('POST', '/v1/changes', {
        domainId: domainIds[HOSTS.shop],
        source: 'pipeline',
        ref: `release-${version}`,
        title: `Release ${version}: ${title}`,
        windowMinutes: DAY_MS / MINUTE_MS,
      }),
  })
  const check = (at: Instant, release: CheckedRelease): Act => ({
    at,
    do: () => runSampleGate(calls.jonas, release, at),
  })
  const answers = troublesOf(plot).flatMap(({ alert, isBrokenBy, answers }) => {
    const first = noticed.find(isBrokenBy)
    if (!first) return []
    return answers.map(({ by, at, ...patch }) => ({
      at: at(first.at),
      do: () => changeIssue(calls[by], alertIds.get(alert) ?? '', patch),
      jobs: ['deliver'],
    }))
  })
  return [
    check(plot.harmlessAt - CHECKED_MS, { version: VERSIONS.harmless, isBaseline: true }),
    check(plot.harmfulAt - CHECKED_MS, { version: VERSIONS.harmful }),
    release(plot.harmlessAt + TOLD_MS, VERSIONS.harmless, 'new photos'),
    release(plot.harmfulAt + TOLD_MS, VERSIONS.harmful, 'a new cart'),
    ...answers,
  ]
}

async function changeIssue(
  call: Call,
  alertId: string,
  { comment, ...patch }: { status: string; notes: string; comment?: string },
): Promise<void> {
  const { issues } = (await call('GET', `/v1/issues?alertId=${alertId}`)) as { issues: { id: string }[] }
  for (const { id } of issues) {
    await call('PATCH', `/v1/issues/${id}`, patch)
    if (comment !== undefined) await call('POST', `/v1/issues/${id}/comments`, { body: comment })
  }
}

/** Creates rules that assign issues of the shop and of the magazine. */
async function makeOwnershipRules(
  owner: Call,
  { [HOSTS.shop]: shop = '', [HOSTS.magazine]: magazine = '' }: Record<string, string>,
): Promise<void> {
  const { members } = (await owner('GET', '/v1/org/members')) as { members: { id: string; email: string }[] }
  const idOf = (name: string) => members.find(({ email }) => email.startsWith(name))?.id ?? null
  const rules = [
    { match: { domainId: shop, pathPrefix: '/checkout' }, assigneeId: idOf('jonas') },
    { match: { domainId: shop, vendor: 'Google Analytics 4' }, assigneeId: idOf('jonas') },
    { match: { domainId: magazine }, assigneeId: idOf('mara') },
  ]
  await owner('PUT', '/v1/org/ownership', { rules })
}

interface LastDays {
  sites: SampleSites
  /** Orders placed before the last days. */
  sold: readonly Order[]
  made: SampleObjects
  /** Origin of the storefront. */
  origin: string
}

/**
 * Simulates the last days, in which all events go through the collector. At the end, the organization creates its
 * remaining alerts and its flow tests. Returns the flow tests.
 */
export async function simulateLastDays(
  days: SimulatedProgram,
  sample: SampleOrganization,
  plot: DemoTimeline,
  { sites, sold, made, origin }: LastDays,
): Promise<FlowTestIds> {
  await days.run('automatic alerts')
  const { events, orders } = sites.until(plot.now)
  const foundAt = plot.silentAt + FOUND_AFTER_MS
  let isFound = false
  // Time advances in short steps, because the absence of events is measured in minutes.
  for (const [step, own] of Map.groupBy(events, ({ at }) => Math.ceil(at / STEP_MS))) {
    const at = Math.min(step * STEP_MS, plot.now)
    if (at >= foundAt && !isFound) {
      isFound = true
      days.until(foundAt)
      await days.run('flush', 'evaluate', 'evaluate series', 'deliver')
      await changeIssue(days.as(sample.keys.jonas), made.alertIds.get(CART_WITHOUT_CURRENCY) ?? '', {
        status: 'acknowledged',
        notes: 'The new cart omits the currency. The fix is in review.',
        comment: '@Mara Lind Release 42 restores the currency. Can you check the reports of the outage?',
      })
    }
    days.until(at)
    await days.collect(batchesOf(own, at), sample.tokens)
  }
  days.until(plot.now)
  await reportOrders(days, sample, [...sold, ...orders])
  const shop = sample.domainIds[HOSTS.shop] ?? ''
  const owner = days.as(sample.owner.key)
  await makeOwnershipRules(owner, sample.domainIds)
  await makeAlerts(owner, sampleAlerts(shop, made.onCall))
  // The next version, which loses the transaction id, goes live when the demo starts.
  await runSampleGate(days.as(sample.keys.jonas), { version: VERSIONS.harmful + 1, isFaulty: true }, plot.now)
  return createFlowTests(owner, origin, shop)
}

async function reportOrders(
  days: SimulatedProgram,
  { owner, domainIds }: SampleOrganization,
  orders: readonly Order[],
): Promise<void> {
  for (const [of, own] of Map.groupBy(orders, ({ host }) => host)) {
    const sold = own.map(({ host, ...order }) => order)
    for (let from = 0; from < sold.length; from += ORDERS_AT_ONCE) {
      const body = { domainId: domainIds[of], orders: sold.slice(from, from + ORDERS_AT_ONCE) }
      await days.as(owner.key)('POST', '/v1/orders', body)
    }
  }
}
