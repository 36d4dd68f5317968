import { DAY_MS, type Instant } from '../core/clock.ts'
import { Closed, InstantSchema, Int, Nullable, OneOf, type Static, Text, Type } from '../core/schema.ts'
import { managedByField } from '../managed/managed-item.ts'

export const SYSTEMS = [
  'global',
  'tag_system_a',
  'tag_system_b',
  'tag_system_c',
  'tag_manager_global',
  'tag_manager',
  'mobile_a',
  'mobile_b',
  'server',
] as const

/**
 * `waiting`: the domain has never had an event. `active`: it had an event in the last 24 hours. `silent`: it has had
 * events, but none in the last 24 hours.
 */
const DOMAIN_STATUSES = ['waiting', 'active', 'silent'] as const
export type DomainStatus = (typeof DOMAIN_STATUSES)[number]

/**
 * The host that serves a domain's script and receives its events. `default`: the collector's host. `custom`: a hostname
 * of the customer that points to the collector. `legacy`: the dashboard's host, which was also the collector's host
 * before the collector had its own.
 */
export const ROUTING_MODES = ['legacy', 'custom', 'default'] as const
export type RoutingMode = (typeof ROUTING_MODES)[number]

/**
 * Result of checking whether a customer's hostname points to the collector. `pending`: not checked yet. `active`: it
 * does. `failing`: it does not.
 */
const COLLECT_STATUSES = ['pending', 'active', 'failing'] as const
export type CollectStatus = (typeof COLLECT_STATUSES)[number]

/** The available sampling rates. */
export const SAMPLING_RATES = [1, 0.5, 0.25, 0.1, 0.05, 0.02, 0.01] as const

/**
 * The collector drops events from a `denied` hostname. The other two values only record whether a user has reviewed the
 * hostname.
 */
export const HOSTNAME_STATUSES = ['unreviewed', 'approved', 'denied'] as const
export type HostnameStatus = (typeof HOSTNAME_STATUSES)[number]

const DomainVendorConfigSchema = Closed(
  {
    vendorName: Text(1, 200),
    urlPatternMatches: Type.Optional(Type.Array(Type.String({ maxLength: 1000 }), { maxItems: 100 })),
  },
  {
    $id: 'DomainVendorConfig',
    examples: [{ vendorName: 'Google Analytics 4', urlPatternMatches: ['google-analytics.com/g/collect'] }],
  },
)
export type DomainVendorConfig = Static<typeof DomainVendorConfigSchema>

/** Maximum length of a screenshot in characters: about 1.5 MB of image data. */
const SCREENSHOT_LENGTH_MAX = 2_000_000

export const DomainNameSchema = Text(1, 255)

const MANUAL = 'Has no effect; stored and returned unchanged'
const SCREENSHOT = 'Has no effect; stored and returned unchanged, neither validated nor displayed'

export const DomainInputSchema = Closed(
  {
    name: DomainNameSchema,
    system: Type.Optional(OneOf(SYSTEMS, { default: 'global' })),
    monitoredUrls: Type.Optional(Type.Array(Type.String({ maxLength: 255 }), { maxItems: 50, default: [] })),
    vendors: Type.Optional(Type.Array(DomainVendorConfigSchema, { maxItems: 200, default: [] })),
    allowManualMonitoring: Type.Optional(Type.Boolean({ default: false, description: MANUAL })),
    screenshotBase64: Type.Optional(Type.String({ maxLength: SCREENSHOT_LENGTH_MAX, description: SCREENSHOT })),
  },
  { $id: 'DomainInput', examples: [{ name: 'Shop', monitoredUrls: ['https://shop.example/'] }] },
)
export type DomainInput = Static<typeof DomainInputSchema>

const domainFields = {
  id: Type.String(),
  orgId: Type.String(),
  name: Type.String(),
  token: Type.String({ description: 'Property token for the collector; empty for viewers and read-only keys' }),
  system: OneOf(SYSTEMS),
  status: OneOf(DOMAIN_STATUSES),
  monitoredUrls: Type.Array(Type.String()),
  vendorCount: Int({ description: 'Number of vendors that are configured or were seen in the last 7 days' }),
  createdAt: InstantSchema,
  projectId: Nullable(Type.String()),
  collect: Nullable(
    Closed(
      { hostname: Type.String(), status: OneOf(COLLECT_STATUSES) },
      {
        description:
          'Hostname of the customer for the collector, and whether it points to the collector; null: none is set',
      },
    ),
  ),
  routing: Closed({
    mode: OneOf(ROUTING_MODES),
    collectEndpoint: Type.String(),
    cdnHost: Type.String(),
  }),
  legacyScript: Type.Boolean({
    description:
      'True when pages requested the script from the legacy host in the last 24 hours although another mode is set',
  }),
  events24h: Type.Optional(Int({ default: 0 })),
  lastEventAt: Type.Optional(Nullable(InstantSchema)),
  prodVersion: Type.Optional(Nullable(Type.Number())),
  managedBy: managedByField(),
}

const EXAMPLE = {
  id: 'dom_01ke7jm2q0d3k8f1z6y5b7n4ta',
  orgId: 'org_01ke7jhv00p5s9c2g4w8e6m1xr',
  name: 'Shop',
  token: 'pt_5yq0w3m1nCk8hX2bVtJ7rLzE9sAaGdQfUoPiKxBvT4c',
  system: 'global',
  status: 'active',
  monitoredUrls: ['https://shop.example/'],
  vendorCount: 1,
  createdAt: 1_767_614_400_000,
  projectId: null,
  collect: null,
  routing: {
    mode: 'default',
    collectEndpoint: 'https://collect.example.com/api/v1/events',
    cdnHost: 'collect.example.com',
  },
  legacyScript: false,
  events24h: 1200,
  lastEventAt: 1_767_616_200_000,
  prodVersion: 12,
}

export const DomainSchema = Closed(domainFields, { $id: 'Domain', examples: [EXAMPLE] })
export type Domain = Static<typeof DomainSchema>

/**
 * A domain with the settings that a `PUT` replaces, so that a caller can read the domain, change it and write it back.
 */
export const DomainDetailSchema = Closed(
  {
    ...domainFields,
    vendors: Type.Array(DomainVendorConfigSchema),
    allowManualMonitoring: Type.Boolean({ description: MANUAL }),
    screenshotBase64: Nullable(Type.String({ description: SCREENSHOT })),
    pageViewSampling: Type.Optional(
      Closed(
        { devRate: Type.Number(), prodRate: Type.Number() },
        { description: 'Shares of sessions whose page views are kept; changed by a separate route' },
      ),
    ),
  },
  {
    $id: 'DomainDetail',
    examples: [
      {
        ...EXAMPLE,
        vendors: [{ vendorName: 'Google Analytics 4' }],
        allowManualMonitoring: false,
        screenshotBase64: null,
      },
    ],
  },
)
export type DomainDetail = Static<typeof DomainDetailSchema>

export const HostnameSchema = Closed(
  {
    hostname: Type.String(),
    status: OneOf(HOSTNAME_STATUSES),
    events24h: Int(),
    firstSeenAt: Nullable(Int({ description: 'Null when the hostname was added by hand and has not sent any events' })),
    lastSeenAt: Nullable(InstantSchema),
  },
  {
    $id: 'Hostname',
    examples: [
      {
        hostname: 'shop.example',
        status: 'unreviewed',
        events24h: 1200,
        firstSeenAt: 1_767_614_400_000,
        lastSeenAt: 1_767_616_200_000,
      },
    ],
  },
)
export type Hostname = Static<typeof HostnameSchema>

/** A stored domain, including its events in the last 24 hours. */
export interface DomainRecord {
  id: string
  orgId: string
  projectId: string | null
  name: string
  system: (typeof SYSTEMS)[number]
  token: string
  monitoredUrls: string[]
  vendors: DomainVendorConfig[]
  allowManualMonitoring: boolean
  screenshotBase64: string | null
  lastEventAt: Instant | null
  prodVersion: number | null
  createdAt: Instant
  events24h: number
  routingMode: RoutingMode
  collectHostname: string | null
  collectStatus: CollectStatus
  legacyScriptAt: Instant | null
  /** Vendors seen in the last 7 days. */
  vendorsSeen: string[]
}

export function domainStatus(lastEventAt: Instant | null, now: Instant): DomainStatus {
  if (lastEventAt === null) return 'waiting'
  return now - lastEventAt < DAY_MS ? 'active' : 'silent'
}

/** The current time and the public URLs that the description of a domain depends on. */
export interface Viewpoint {
  now: Instant
  /** Public URL of the collector, without a path. */
  collectUrl: string
  /** Public URL of the dashboard, without a path. */
  publicUrl: string
  showToken: boolean
}

/** Returns a domain in the form shown by the API. */
export function describeDomain(record: DomainRecord, viewpoint: Viewpoint): Domain {
  const { id, orgId, name, system, monitoredUrls, createdAt, projectId, events24h, lastEventAt, prodVersion } = record
  const { now, showToken } = viewpoint
  const { collectHostname: hostname, collectStatus, routingMode, legacyScriptAt } = record
  return {
    id,
    orgId,
    name,
    token: showToken ? record.token : '',
    system,
    status: domainStatus(lastEventAt, now),
    monitoredUrls,
    vendorCount: new Set([...record.vendors.map(({ vendorName }) => vendorName), ...record.vendorsSeen]).size,
    createdAt,
    projectId,
    collect: hostname === null ? null : { hostname, status: collectStatus },
    routing: routingOf(record, viewpoint),
    legacyScript: routingMode !== 'legacy' && legacyScriptAt !== null && now - legacyScriptAt < DAY_MS,
    events24h,
    lastEventAt,
    prodVersion,
  }
}

/**
 * Returns which host serves a domain's script and receives its events. Mode `custom` without a hostname is treated as
 * `default`.
 */
export function routingOf(
  { routingMode, collectHostname }: Pick<DomainRecord, 'routingMode' | 'collectHostname'>,
  { collectUrl, publicUrl }: Pick<Viewpoint, 'collectUrl' | 'publicUrl'>,
): Domain['routing'] {
  const custom = collectHostname === null ? collectUrl : `https://${collectHostname}`
  const base = { legacy: publicUrl, custom, default: collectUrl }[routingMode]
  return {
    mode: routingMode,
    collectEndpoint: new URL('/api/v1/events', base).href,
    cdnHost: new URL(base).host,
  }
}

/** Like `describeDomain`, but includes the settings that a `PUT` replaces. */
export function describeDomainInDetail(record: DomainRecord, viewpoint: Viewpoint): DomainDetail {
  const { vendors, allowManualMonitoring, screenshotBase64 } = record
  return { ...describeDomain(record, viewpoint), vendors, allowManualMonitoring, screenshotBase64 }
}

/**
 * Top-level names that can't be registered on the internet: this machine (`localhost`), the local link (`local`),
 * private networks (`internal`, `home.arpa`), other name systems (`onion`, `alt`), reserved names (`invalid`, `test`),
 * and addresses (`arpa`). `example` is allowed, because it never resolves.
 *
 * Sources: https://www.rfc-editor.org/rfc/rfc6761, rfc6762, rfc7686, rfc8375, rfc9476, and ICANN resolution
 * 2024.07.29.06 for `internal`.
 */
const SPECIAL_ENDS = ['localhost', 'local', 'internal', 'onion', 'alt', 'invalid', 'test', 'arpa']

/**
 * A label of a hostname: letters, digits, hyphens that are not at either end
 * (https://www.rfc-editor.org/rfc/rfc1123#section-2.1), and `_`, which DNS allows.
 */
const LABEL = /^(?!-)[a-z\d_-]{1,63}(?<!-)$/

/** True for a normalized name with at least two labels that is not an IP address. */
export function isFullName(hostname: string): boolean {
  const labels = hostname.split('.')
  return labels.length > 1 && labels.every((label) => LABEL.test(label)) && !/^\d+$/.test(labels.at(-1) ?? '')
}

/** True when the name ends in one of `SPECIAL_ENDS` and may therefore resolve to a host in the operator's network. */
export function isSpecialName(hostname: string): boolean {
  return SPECIAL_ENDS.includes(hostname.slice(hostname.lastIndexOf('.') + 1))
}

const HOSTNAME_LENGTH_MAX = 253

/**
 * Returns the normalized hostname, in which form hostnames are stored and compared: in lower case, with international
 * names in punycode, without trailing dots, and with IP addresses as in the URL standard
 * (https://url.spec.whatwg.org/#host-parsing). Null when the string contains anything else: a port, a path, a user
 * name, white space or percent signs.
 */
export function normalizeHostname(text: string): string | null {
  // The URL parser would silently drop or decode these characters and return a different name.
  if (/[\s\p{Cc}/\\?#@%]/u.test(text) || (text.includes(':') && !/^\[[\da-f:.]+\]$/i.test(text))) return null
  const bare = text.replace(/[.。．｡]+$/, '')
  const { hostname } = URL.parse(`http://${bare}`) ?? { hostname: '' }
  const name = hostname.replace(/\.+$/, '')
  return name && name.length <= HOSTNAME_LENGTH_MAX ? name : null
}
