import { ChannelSchema } from '../alerts/alert.ts'
import {
  consentSchema,
  DeviceSchema,
  scheduleFields,
  VendorRequestsSchema,
} from '../browser/browser-settings-schema.ts'
import { SEVERITIES } from '../contract/severities.ts'
import { Closed, InstantSchema, Int, Nullable, OneOf, type Static, Text, Type } from '../core/schema.ts'
import { ExpectationSchema, expectedEventFields } from '../flows/expectation.ts'
import { NextCursorSchema } from '../http/paging.ts'

export const AUDIT_STATUSES = ['queued', 'running', 'finished', 'failed', 'cancelled'] as const
export type AuditStatus = (typeof AUDIT_STATUSES)[number]

const address = (description: string) => Text(1, 2000, { description, examples: ['https://shop.example/'] })
const patterns = (description: string) =>
  Type.Array(Text(1, 1000, { description: 'A pattern (RE2)', examples: ['/product/'] }), { maxItems: 50, description })

const ExpectedPageSchema = Closed(
  {
    path: Type.Optional(
      Text(1, 1000, {
        description: 'Pages whose path matches this pattern (RE2); default: all pages',
        examples: ['^/cart'],
      }),
    ),
    ...expectedEventFields,
    withinMs: ExpectationSchema.properties.withinMs,
  },
  { description: 'Events that each page must or must not send' },
)
export type ExpectedPage = Static<typeof ExpectedPageSchema>

/** Settings of a crawl. Stored audits contain all fields. */
const settings = {
  name: Text(1, 200, {
    description: 'Audits with the same name form a series; each is compared with the previous one',
  }),
  domainId: Nullable(Type.String({ maxLength: 100, description: 'The audited domain' })),
  startUrls: Type.Array(address('A start page'), {
    maxItems: 50,
    description: 'Start pages. Only pages on these hosts and ports are visited',
    examples: [['https://shop.example/']],
  }),
  sitemap: Nullable(address('URL of a sitemap, a sitemap index or a list of URLs, instead of start pages')),
  maxPages: Int({ minimum: 1, maximum: 2000, default: 50, description: 'Maximum number of pages' }),
  maxDepth: Int({ minimum: 0, maximum: 10, default: 3, description: 'Maximum number of links from a start page' }),
  include: patterns('Visit only pages whose URL matches one of these patterns; start pages are always visited'),
  exclude: patterns('Skip pages whose URL matches one of these patterns'),
  respectRobots: Type.Boolean({ default: true, description: 'Whether robots.txt is obeyed' }),
  delayMs: Int({
    minimum: 0,
    maximum: 60_000,
    default: 500,
    description: 'Milliseconds between page loads from one host',
  }),
  settleMs: Int({
    minimum: 0,
    maximum: 10_000,
    default: 1000,
    description: 'Milliseconds without requests after which a page is considered loaded',
  }),
  expect: Type.Array(ExpectedPageSchema, {
    maxItems: 100,
    description: 'Events that each page must or must not send',
    examples: [[{ vendor: 'Google Analytics 4', event: 'page_view' }]],
  }),
  consent: consentSchema(['none', 'accept', 'deny', 'compare'], {
    description: 'How to answer consent banners; `compare`: load each page without and with consent',
    examples: [{ mode: 'compare' }],
  }),
  device: DeviceSchema,
  vendorRequests: VendorRequestsSchema,
  ...scheduleFields,
  severity: OneOf(SEVERITIES, { default: 'medium', description: 'Severity of its issues' }),
}
const channels = Type.Array(ChannelSchema, { maxItems: 10, description: 'Channels notified of its issues' })

export const AuditInputSchema = Closed(
  {
    name: settings.name,
    domainId: Type.Optional(settings.domainId),
    startUrls: Type.Optional(settings.startUrls),
    sitemap: Type.Optional(settings.sitemap),
    maxPages: Type.Optional(settings.maxPages),
    maxDepth: Type.Optional(settings.maxDepth),
    include: Type.Optional(settings.include),
    exclude: Type.Optional(settings.exclude),
    respectRobots: Type.Optional(settings.respectRobots),
    delayMs: Type.Optional(settings.delayMs),
    settleMs: Type.Optional(settings.settleMs),
    expect: Type.Optional(settings.expect),
    consent: Type.Optional(settings.consent),
    device: Type.Optional(settings.device),
    vendorRequests: Type.Optional(settings.vendorRequests),
    schedule: Type.Optional(settings.schedule),
    timezone: Type.Optional(settings.timezone),
    severity: Type.Optional(settings.severity),
    channels: Type.Optional(channels),
  },
  { $id: 'AuditInput', examples: [{ name: 'Shop', startUrls: ['https://shop.example/'], maxPages: 100 }] },
)
export type AuditInput = Static<typeof AuditInputSchema>

const VendorEventSchema = Closed({ vendor: Nullable(Type.String()), event: Nullable(Type.String()) })

const GA4 = { vendor: 'Google Analytics 4', event: 'page_view' }
const PAGE = {
  url: 'https://shop.example/',
  status: 200,
  depth: 0,
  title: 'Shop',
  loadMs: 640,
  bytes: 182_000,
  requests: 31,
  error: null,
  tags: [{ ...GA4, account: 'G-ABC123', count: 1 }],
  missing: [],
  duplicates: [],
  beforeConsent: [],
  errors: [],
}

const PageSchema = Closed(
  {
    url: Type.String({ description: 'Final URL, without parameters that do not change the page' }),
    status: Nullable(Int({ description: 'Null: no response' })),
    depth: Int({ description: 'Number of links from a start page' }),
    title: Type.String(),
    loadMs: Int(),
    bytes: Int(),
    requests: Int(),
    error: Nullable(Type.String({ description: 'Reason why the page could not be loaded; null: it was loaded' })),
    tags: Type.Array(
      Closed({ vendor: Type.String(), event: Type.String(), account: Nullable(Type.String()), count: Int() }),
      { description: 'Events that fired; with `compare`: after consent' },
    ),
    missing: Type.Array(VendorEventSchema, { description: 'Expected events that did not fire, or not as specified' }),
    duplicates: Type.Array(Closed({ vendor: Type.String(), event: Type.String(), count: Int() }), {
      description: 'Events sent more than once with the same data',
    }),
    beforeConsent: Type.Array(Closed({ vendor: Type.String(), event: Type.String() }), {
      description: 'With `compare`: events that fired without consent',
    }),
    errors: Type.Array(Type.String(), { description: "Errors from the page's scripts and console" }),
  },
  { $id: 'AuditPage', examples: [PAGE] },
)
export type AuditPage = Static<typeof PageSchema>

const SummarySchema = Closed({
  pagesTotal: Int(),
  pagesFailed: Int({ description: 'Pages without a response or with a status of 400 or above' }),
  vendors: Int({ description: 'Vendors with at least one event' }),
  missing: Int(),
  duplicates: Int(),
  beforeConsent: Int(),
  errors: Int(),
})
export type AuditSummary = Static<typeof SummarySchema>

const CHANGES = ['tag_new', 'tag_gone', 'page_new', 'page_gone', 'status'] as const

const DifferencesSchema = Closed({
  since: Type.String({ description: 'Id of the previous audit' }),
  pages: Type.Array(
    Closed({
      url: Type.String(),
      change: OneOf(CHANGES),
      vendor: Nullable(Type.String()),
      event: Nullable(Type.String()),
    }),
    { description: 'At most 1,000' },
  ),
})
export type Differences = Static<typeof DifferencesSchema>

const auditFields = {
  id: Type.String(),
  ...settings,
  channels,
  status: OneOf(AUDIT_STATUSES),
  createdAt: InstantSchema,
  startedAt: Nullable(InstantSchema),
  finishedAt: Nullable(InstantSchema),
  durationMs: Nullable(Int()),
  region: Type.String(),
  error: Nullable(Type.String({ description: 'Reason why the audit ended early; pages visited until then are kept' })),
  summary: SummarySchema,
}

const EXAMPLE = {
  id: 'run_01ke7k3h20x6b4n8r1t9v5c7zd',
  name: 'Shop',
  domainId: null,
  startUrls: ['https://shop.example/'],
  sitemap: null,
  maxPages: 50,
  maxDepth: 3,
  include: [],
  exclude: [],
  respectRobots: true,
  delayMs: 500,
  settleMs: 1000,
  expect: [GA4],
  consent: { mode: 'none' },
  device: 'desktop',
  vendorRequests: 'answer',
  schedule: null,
  timezone: 'UTC',
  severity: 'medium',
  channels: [],
  status: 'finished',
  region: 'local',
  createdAt: 1_767_614_399_000,
  startedAt: 1_767_614_400_000,
  finishedAt: 1_767_614_402_100,
  durationMs: 2100,
  error: null,
  summary: { pagesTotal: 1, pagesFailed: 0, vendors: 1, missing: 0, duplicates: 0, beforeConsent: 0, errors: 0 },
}

const AuditSchema = Closed(auditFields, { $id: 'Audit', examples: [EXAMPLE] })
export type Audit = Static<typeof AuditSchema>

export const AuditDetailSchema = Closed(
  {
    ...auditFields,
    pages: Type.Array(PageSchema, { description: 'The first 200 pages' }),
    differences: Nullable(DifferencesSchema),
  },
  { $id: 'AuditDetail', examples: [{ ...EXAMPLE, pages: [PAGE], differences: null }] },
)

export const AuditListSchema = Closed(
  { audits: Type.Array(AuditSchema), nextCursor: NextCursorSchema },
  { $id: 'AuditList', examples: [{ audits: [EXAMPLE], nextCursor: null }] },
)
export const AuditPageListSchema = Closed(
  { pages: Type.Array(PageSchema), nextCursor: NextCursorSchema },
  { $id: 'AuditPageList', examples: [{ pages: [PAGE], nextCursor: null }] },
)

/** Settings from a request, with defaults filled in. */
export type AuditSettings = Omit<
  Audit,
  'id' | 'status' | 'createdAt' | 'startedAt' | 'finishedAt' | 'durationMs' | 'region' | 'error' | 'summary'
>
