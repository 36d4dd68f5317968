import { MAX_HOURS } from '../contract/limits.ts'
import { AppError } from '../core/error.ts'
import { Closed, InstantSchema, Int, Nullable, type Static, Type } from '../core/schema.ts'
import {
  type ByChoice,
  COOKIE_PARAMETERS,
  type CookieRow,
  cookiesBeforeConsentQuery,
  type PageRow,
  pagesBeforeConsentQuery,
  type RequestHostRow,
  requestCountQuery,
  requestHostsQuery,
} from './before-consent-query.ts'
import { insight } from './insight.ts'
import { rangeFields, windowOf } from './query-params.ts'
import { type Mask, maskFor } from './response-mask.ts'

/** Approximate number of events to read. With more, sessions are sampled and the counts scaled up. */
const MAX_EVENTS = 2_000_000
const MAX_PAGES = 20

const DEFAULT_HOURS = 24

const Input = Closed({
  domainId: Type.String({ maxLength: 100 }),
  ...rangeFields(DEFAULT_HOURS, MAX_HOURS.comparison),
})

const counts = {
  before: Int({ description: 'Requests before the visitor made a choice' }),
  afterRefusal: Int(),
  afterAcceptance: Int(),
}

const VendorSchema = Closed({
  vendor: Type.String(),
  host: Nullable(Type.String({ description: 'Host of the pages; null if unknown' })),
  ...counts,
  pages: Type.Array(Closed({ path: Type.String(), count: Int({ description: 'All requests' }), ...counts }), {
    maxItems: MAX_PAGES,
    description: 'At most 20; those with the most requests without acceptance first',
  }),
  firstSeenAt: Type.Number({ ...InstantSchema, description: 'First request in the time range' }),
  requestHosts: Type.Array(Type.String(), {
    description: 'Hosts to which browsers sent requests to the vendor, on any page; empty if unknown',
  }),
  cookies: Type.Array(Closed({ name: Type.String(), ...counts }), {
    description:
      'Cookies whose value requests to the vendor contained. Cookies that are only set and not sent as a parameter are not known',
  }),
})

const Output = Closed(
  { vendors: Type.Array(VendorSchema, { description: 'Most requests without acceptance first' }) },
  {
    $id: 'VendorsBeforeConsent',
    examples: [
      {
        vendors: [
          {
            vendor: 'Meta Pixel',
            host: 'shop.example',
            before: 840,
            afterRefusal: 12,
            afterAcceptance: 4120,
            pages: [{ path: '/', count: 4100, before: 800, afterRefusal: 10, afterAcceptance: 3290 }],
            firstSeenAt: 1_767_614_400_000,
            requestHosts: ['www.facebook.com'],
            cookies: [{ name: '_fbp', before: 840, afterRefusal: 0, afterAcceptance: 4120 }],
          },
        ],
      },
    ],
  },
)

/** Requests of real visitors to vendors, by the consent in force. */
export const beforeConsent = insight({
  id: 'getVendorsBeforeConsent',
  tag: 'Compliance',
  summary: 'List vendors to which requests were sent before consent, after refusal and after acceptance',
  description:
    'The most recent choice of a session counts. A default of consent mode is not a choice. `/docs/use/compliance` describes the ' +
    'signals. Counts are weighted; above about 2 million events, sessions are sampled.',
  path: '/compliance/before-consent',
  refusals: ['notFound', 'unavailable'],
  input: Input,
  output: Output,
  exports: 'vendors',
  async answer(sources, input, { principal: { orgId }, now }) {
    const { history } = sources
    const { domainId } = input
    if (!sources.domains().some(({ id }) => id === domainId))
      throw new AppError('notFound', 'query.domainId: no such domain')
    const window = windowOf(input, { byDefault: DEFAULT_HOURS, maximum: MAX_HOURS.comparison, now })
    const scope = { orgId, domainId, window }
    const [size] = await history.query<{ events: number }>(requestCountQuery(scope))
    const oneIn = Math.max(1, Math.ceil((size?.events ?? 0) / MAX_EVENTS))
    const pages = await history.query<PageRow>(pagesBeforeConsentQuery({ ...scope, oneIn }))
    const mayHaveCookies = pages.some(({ vendor }) => COOKIE_PARAMETERS.some((one) => one.vendor === vendor))
    const cookies = mayHaveCookies ? await history.query<CookieRow>(cookiesBeforeConsentQuery({ ...scope, oneIn })) : []
    const hosts = await history.query<RequestHostRow>(requestHostsQuery(scope))
    return { vendors: vendorsOf({ pages, cookies, hosts }, oneIn, maskFor(sources)) }
  },
})

interface Rows {
  pages: readonly PageRow[]
  cookies: readonly CookieRow[]
  hosts: readonly RequestHostRow[]
}

type Vendor = Static<typeof VendorSchema>

/** Returns the vendors by page host. Names that are the same after masking are one. */
function vendorsOf({ pages, cookies, hosts }: Rows, oneIn: number, mask: Mask): Vendor[] {
  const nameOf = ({ vendor, host }: { vendor: string; host: string }) =>
    JSON.stringify([mask(vendor, '$vendor'), mask(host, '$host')])
  const cookiesOf = Map.groupBy(cookies, nameOf)
  const hostsOf = Map.groupBy(hosts, ({ vendor }) => mask(vendor, '$vendor'))
  return [...Map.groupBy(pages, nameOf)].map(([name, rows]) => {
    const [vendor = '', host = ''] = JSON.parse(name) as string[]
    // Each row contains the sums over all pages of its vendor and host.
    const firsts = [...new Map(rows.map((row) => [JSON.stringify([row.vendor, row.host]), row])).values()]
    const all = firsts.map((row) => ({
      before: row.allBefore,
      afterRefusal: row.allAfterRefusal,
      afterAcceptance: row.allAfterAcceptance,
    }))
    return {
      vendor,
      host: host || null,
      ...sumOf(all, oneIn),
      pages: [...Map.groupBy(rows, ({ path }) => mask(path, '$path'))].slice(0, MAX_PAGES).map(([path, own]) => {
        const sums = sumOf(own, oneIn)
        return { path, count: sums.before + sums.afterRefusal + sums.afterAcceptance, ...sums }
      }),
      firstSeenAt: Math.min(...firsts.map(({ allFirstSeenAt }) => allFirstSeenAt)),
      requestHosts: (hostsOf.get(vendor) ?? []).map(({ vendorHost }) => mask(vendorHost, '$host')),
      cookies: (cookiesOf.get(name) ?? []).map((row) => ({ name: row.cookie, ...sumOf([row], oneIn) })),
    }
  })
}

function sumOf(rows: readonly ByChoice[], oneIn: number): ByChoice {
  const sum = (of: keyof ByChoice) => Math.round(oneIn * rows.reduce((total, row) => total + row[of], 0))
  return { before: sum('before'), afterRefusal: sum('afterRefusal'), afterAcceptance: sum('afterAcceptance') }
}
