import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS } from '../core/clock.ts'
import type { DigestFacts, DigestIssue } from './digest-facts.ts'
import { digestPeriod } from './digest-schedule.ts'
import type { NameCount } from './event-traffic.ts'
import type { Nameable } from './reader-focus.ts'

/** A Tuesday morning. */
const COMPOSED_AT: Instant = Date.UTC(2026, 0, 6, 7, 0, 30)

const GA4 = 'Google Analytics 4'
const META = 'Meta Pixel'

const counts: [domainId: string, vendor: string, event: string, now: number, before: number | null][] = [
  ['dom_shop', GA4, 'page_view', 48_210, 46_900],
  ['dom_shop', META, 'PageView', 39_870, 40_120],
  ['dom_shop', 'Google Ads', 'conversion', 1_920, 1_850],
  ['dom_shop', GA4, 'purchase', 312, 1_540],
  ['dom_shop', META, 'Purchase', 1_480, 1_510],
  ['dom_blog', GA4, 'page_view', 8_120, 5_010],
  ['dom_blog', 'LinkedIn Insight', 'page', 2_040, 2_110],
  ['dom_shop', 'TikTok Pixel', 'ViewContent', 0, 3_420],
  ['dom_shop', 'Criteo OneTag', 'viewItem', 1_210, 0],
]
const names = counts.map(
  ([domainId, vendor, event, now, before]): NameCount => ({
    domainId,
    vendor,
    event,
    now,
    before,
  }),
)

const hour = (n: number, phase: number) => Math.round(2600 + 2200 * Math.sin(((n + phase) / 24) * 2 * Math.PI))

/** Returns an issue on the shop domain. */
export function aDigestIssue(values: Partial<DigestIssue> = {}): DigestIssue {
  return {
    id: 'iss_1',
    status: 'open',
    severity: 'high',
    domainId: 'dom_shop',
    domain: 'Shop',
    vendor: GA4,
    event: 'purchase',
    title: 'Purchases have a transaction id: Google Analytics 4 purchase events break the rule on shop.example',
    occurrences: '1,204 events',
    value: 12_000,
    firstSeenAt: COMPOSED_AT - 5 * HOUR_MS,
    summary: '1,204 of 1,516 purchase events had no `ep.transaction_id`; expected none',
    sample: [
      ['host', 'shop.example'],
      ['path', '/checkout/done'],
      ['ep.transaction_id', '(empty)'],
      ['epn.value', '42.50'],
      ['ep.currency', 'EUR'],
      ['ep.user_name', 'j***@m***.com'],
    ],
    ...values,
  } as DigestIssue
}

const nameables: Nameable[] = [
  { kind: 'domain', name: 'Shop', domainId: 'dom_shop' },
  { kind: 'domain', name: 'Blog', domainId: 'dom_blog' },
  {
    kind: 'label',
    name: 'Checkout',
    members: [
      { vendor: GA4, event: 'purchase' },
      { vendor: META, event: null },
    ],
  },
  ...[...new Set(names.map(({ vendor }) => vendor))].map(
    (vendor): Nameable => ({
      kind: 'vendor',
      name: vendor,
      members: [{ vendor, event: null }],
    }),
  ),
  ...[...new Set(names.map(({ event }) => event))].map(
    (event): Nameable => ({
      kind: 'event',
      name: event,
      members: [{ vendor: null, event }],
    }),
  ),
]

/** Returns the facts of an eventful day. */
export function aDay(values: Partial<DigestFacts> = {}): DigestFacts {
  const at = COMPOSED_AT
  const opened = [
    aDigestIssue(),
    aDigestIssue({
      id: 'iss_2',
      severity: 'medium',
      vendor: 'TikTok Pixel',
      event: 'ViewContent',
      value: null,
      title: 'Automatic signals: TikTok Pixel ViewContent is silent on Shop',
      occurrences: '3 windows',
      sample: [],
      summary: 'no TikTok Pixel ViewContent events; expected about 140 in an hour',
    }),
  ]
  const open = [
    ...opened,
    aDigestIssue({
      id: 'iss_3',
      severity: 'low',
      status: 'acknowledged',
      domainId: 'dom_blog',
      domain: 'Blog',
      value: 300,
      vendor: 'LinkedIn Insight',
      event: 'page',
      occurrences: '87 events',
      sample: [],
      title: 'Pages have a title: LinkedIn Insight page events break the rule',
      firstSeenAt: at - 9 * DAY_MS,
    }),
  ]
  const resolved = [
    aDigestIssue({
      id: 'iss_4',
      status: 'resolved',
      severity: 'critical',
      value: 5_000,
      vendor: META,
      event: 'Purchase',
      title: 'Purchases have a value: Meta Pixel Purchase events break the rule on shop.example',
    }),
  ]
  return {
    at,
    span: digestPeriod(at),
    orgName: 'Acme',
    currency: null,
    timezone: 'Europe/Berlin',
    domainNames: new Map([
      ['dom_shop', 'Shop'],
      ['dom_blog', 'Blog'],
    ]),
    traffic: {
      names,
      fresh: names.filter(({ vendor }) => vendor === 'Criteo OneTag'),
      hours: {
        now: Array.from({ length: 24 }, (_, n) => hour(n, 1)),
        before: Array.from({ length: 24 }, (_, n) => hour(n, 0)),
      },
    },
    newParameters: [{ domainId: 'dom_shop', vendor: GA4, event: 'add_to_cart', key: 'ep.coupon_code', events: 412 }],
    issues: { opened, resolved, open, openedBefore: 1, resolvedBefore: 2 },
    value: { open: 12_300, opened: 12_000, resolved: 5_000, resolved30d: 41_000 },
    scores: {
      overall: 84,
      parts: [
        { name: 'availability', score: 89, detail: 'TikTok Pixel ViewContent is silent on Shop.' },
        {
          name: 'accuracy',
          score: 78,
          detail: '79 % of Google Analytics 4 purchase events on Shop violate "Purchases have a transaction id".',
        },
        { name: 'compliance', score: 85, detail: 'email in ep.user_name of Google Analytics 4 on Shop.' },
      ],
    },
    changes: [
      {
        id: 'chg_1',
        title: 'Checkout: new summary page',
        source: 'ci',
        status: 'regressed',
        occurredAt: at - 5 * HOUR_MS - 3 * MINUTE_MS,
        domainId: 'dom_shop',
        domain: 'Shop',
        effects: [
          {
            domainId: 'dom_shop',
            vendor: GA4,
            event: 'purchase',
            harmful: true,
            detail:
              'Google Analytics 4 purchase has ep.transaction_id in 21 % of its events, compared with 100 % before.',
          },
          {
            domainId: 'dom_shop',
            vendor: 'Criteo OneTag',
            event: 'viewItem',
            harmful: false,
            detail: 'Criteo OneTag viewItem is new.',
          },
        ],
      },
      {
        id: 'chg_2',
        title: 'Version 128',
        source: 'version',
        status: 'clean',
        effects: [],
        occurredAt: at - 19 * HOUR_MS,
        domainId: 'dom_blog',
        domain: 'Blog',
      },
    ],
    findings: (() => {
      const fresh = [
        {
          vendor: GA4,
          key: 'ep.user_name',
          kind: 'email',
          count: 318,
          example: 'j***@m***.com',
          domainIds: ['dom_shop'],
          issueId: null,
        },
      ]
      const old = {
        vendor: GA4,
        key: '$consent',
        kind: 'no_default',
        count: 9_120,
        domainIds: ['dom_blog'],
        issueId: null,
        example: '12 % of the requests of Google Analytics 4 on Blog have a `gcd` without a default.',
      }
      return { fresh, seen: [...fresh, old] }
    })(),
    orders: [
      {
        domainId: 'dom_shop',
        domain: 'Shop',
        orders: 1_512,
        value: 98_410.5,
        before: 1_544,
        vendors: [
          {
            vendor: GA4,
            orders: 1_512,
            captured: 305,
            missing: 1_207,
            extra: 0,
            duplicates: 3,
            valueMismatches: 0,
            missingValue: 78_640.2,
            capturePct: 20.2,
            matched: 0,
            browserOnly: 0,
            serverOnly: 0,
            matchedPct: null,
          },
          {
            vendor: META,
            orders: 1_512,
            captured: 1_477,
            missing: 35,
            extra: 1,
            duplicates: 0,
            valueMismatches: 2,
            missingValue: 2_214,
            capturePct: 97.7,
            matched: 1_391,
            browserOnly: 61,
            serverOnly: 25,
            matchedPct: 94.2,
          },
        ],
      },
    ],
    suggestions: [
      {
        domainId: 'dom_shop',
        vendor: META,
        event: 'Purchase',
        name: 'Meta Pixel Purchase: cd[value] is a number',
        reason: '10,214 of 10,214 Meta Pixel Purchase events in the last 7 days had a number in `cd[value]`.',
      },
    ],
    week: null,
    affected: new Map(),
    gaps: { nowMs: 12 * MINUTE_MS, beforeMs: 0 },
    lastEventAt: at - MINUTE_MS,
    names: nameables,
    leftOut: [],
    ...values,
  }
}

/** Returns the facts of a day without activity. */
export function aQuietDay(values: Partial<DigestFacts> = {}): DigestFacts {
  const none = { opened: [], resolved: [], open: [], openedBefore: 0, resolvedBefore: 0 }
  return aDay({
    traffic: { names: [], fresh: [], hours: { now: [], before: null } },
    newParameters: [],
    issues: none,
    changes: [],
    findings: { fresh: [], seen: [] },
    orders: [],
    suggestions: [],
    value: { open: 0, opened: 0, resolved: 0, resolved30d: 0 },
    gaps: { nowMs: 0, beforeMs: 0 },
    ...values,
  })
}
