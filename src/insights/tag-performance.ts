import { maskPersonal } from '../conditions/mask-personal-data.ts'
import { MAX_HOURS } from '../contract/limits.ts'
import { Closed, Int, Type } from '../core/schema.ts'
import { type Query, query } from '../warehouse/query.ts'
import { insight } from './insight.ts'
import { domainFields, domainsNamed, hoursIn, rangeFields, windowOf } from './query-params.ts'

const DEFAULT_HOURS = 24
/** Maximum number of vendors. There is a limit because browsers send these reports, so anyone can invent vendors. */
const MAX_VENDORS = 1000
const MAX_HOSTS = 1000
/** Number of decimals. Beyond these, sums of fractions depend on the order of addition. */
const DIGITS = 6

const Input = Closed({ ...rangeFields(DEFAULT_HOURS, MAX_HOURS.performance), ...domainFields })

const VendorSchema = Closed({
  vendor: Type.String(),
  hosts: Type.Array(Type.String(), { description: 'Hosts of the vendor, sorted by name' }),
  pages: Int({ description: 'Page views with a request or blocking time of the vendor' }),
  reqPerPage: Type.Number({ description: 'Requests per page view' }),
  p50DurMs: Type.Number({
    description: 'Median duration of the vendor’s requests; 0 when no browser reported a duration',
  }),
  p75DurMs: Type.Number({ description: '75th percentile of the duration of the vendor’s requests' }),
  maxMs: Type.Number({ description: 'Duration of the longest request' }),
  p75BlockMs: Type.Number({
    description:
      '75th percentile of the vendor’s blocking time per page view, all hosts together; only from browsers that report it',
  }),
  blockShare: Type.Number({ description: 'Share of the blocking time of all vendors, 0 to 1' }),
  kbPerPage: Type.Number({
    description: 'Kilobytes (1,000 bytes) per page view with a known size; 0 when there are none',
  }),
})

const Output = Closed(
  {
    windowHours: Int(),
    pagesSampled: Int({ description: 'Page views, including those without any vendor' }),
    loafCoverage: Type.Number({ description: 'Share of page views whose browser reports blocking times, 0 to 1' }),
    vendors: Type.Array(VendorSchema, {
      maxItems: MAX_VENDORS,
      description: 'Sorted by `p75BlockMs`, largest first, then by share of blocking time and page views',
    }),
  },
  {
    $id: 'TagPerformance',
    examples: [
      {
        windowHours: 24,
        pagesSampled: 5200,
        loafCoverage: 0.81,
        vendors: [
          {
            vendor: 'Google Tag Manager',
            hosts: ['www.googletagmanager.com'],
            pages: 5100,
            reqPerPage: 1.4,
            p50DurMs: 41,
            p75DurMs: 88,
            maxMs: 2140,
            p75BlockMs: 62,
            blockShare: 0.46,
            kbPerPage: 96.2,
          },
        ],
      },
    ],
  },
)

interface PagesRow {
  pages: number
  telling: number
}

interface VendorRow {
  vendor: string
  hosts: string[]
  pages: number
  requests: number
  /** Null when the size is unknown for every page. */
  bytes: number | null
  sized: number
  p50DurMs: number | null
  p75DurMs: number | null
  maxMs: number | null
  p75BlockMs: number | null
  blockMs: number | null
  allBlockMs: number | null
}

/** Cost of each vendor's code on the pages that load it, as reported by browsers. */
export const tagPerformance = insight({
  id: 'getTagPerformance',
  summary: 'Show the cost of each vendor’s code for pages: requests, bytes, durations and blocking time',
  description:
    'Based on page views as received, not weighted by sampling. A quantile is a measured value (nearest rank). ' +
    'The most recent seconds are not included.',
  path: '/performance/tags',
  refusals: ['notFound', 'unavailable'],
  input: Input,
  output: Output,
  exports: 'vendors',
  async answer(sources, input, { principal: { orgId }, now }) {
    const { history, privacy } = sources
    const window = windowOf(input, { byDefault: DEFAULT_HOURS, maximum: MAX_HOURS.performance, now })
    const windowHours = hoursIn(window)
    const named = domainsNamed(sources, orgId, input)
    if (named?.length === 0) return { windowHours, pagesSampled: 0, loafCoverage: 0, vendors: [] }
    const scope: Scope = { orgId, window, domainIds: named ?? [] }
    const [[all], vendors] = await Promise.all([
      history.query<PagesRow>(pagesQuery(scope)),
      history.query<VendorRow>(vendorsQuery(scope)),
    ])
    const { pages = 0, telling = 0 } = all ?? {}
    const masked = (text: string, field: string) => maskPersonal(text, field, privacy())
    return {
      windowHours,
      pagesSampled: pages,
      loafCoverage: ratio(telling, pages),
      vendors: vendors.map((row) => ({
        vendor: masked(row.vendor, '$vendor'),
        hosts: [...new Set(row.hosts.map((host) => masked(host, '$host')))],
        pages: row.pages,
        reqPerPage: ratio(row.requests, row.pages),
        p50DurMs: row.p50DurMs ?? 0,
        p75DurMs: row.p75DurMs ?? 0,
        maxMs: row.maxMs ?? 0,
        p75BlockMs: rounded(row.p75BlockMs ?? 0),
        blockShare: ratio(row.blockMs ?? 0, row.allBlockMs ?? 0),
        kbPerPage: ratio((row.bytes ?? 0) / 1000, row.sized),
      })),
    }
  },
})

const rounded = (value: number) => Number(value.toFixed(DIGITS))
/** Returns the rounded ratio; 0 when the divisor is 0. */
const ratio = (part: number, whole: number) => (whole === 0 ? 0 : rounded(part / whole))

interface Scope {
  orgId: string
  window: Query['window']
  /** Empty for all domains of the organization. */
  domainIds: readonly string[]
}

function pagesQuery({ domainIds, ...scope }: Scope): Query {
  return query('insights.page-views', {
    ...scope,
    over: 'pages',
    write: (binder) => ({
      sql: `SELECT count(DISTINCT page) AS pages, count(DISTINCT CASE WHEN loaf THEN page END) AS telling
        FROM pages WHERE ${['true', ...binder.among('domainId', domainIds)].join(' AND ')}`,
    }),
  })
}

function vendorsQuery({ domainIds, ...scope }: Scope): Query {
  return query('insights.tag-performance', {
    ...scope,
    over: 'pages',
    write(binder) {
      const { quantile, firstValues: firstOf } = binder.dialect
      const where = [`vendor <> ''`, ...binder.among('domainId', domainIds)].join(' AND ')
      return {
        sql: `SELECT vendor, hosts, pages, requests, bytes, sized, p50DurMs, p75DurMs, maxMs, p75BlockMs, blockMs, allBlockMs
          FROM (
            SELECT *, sum(blockMs) OVER () AS allBlockMs FROM (
              SELECT vendor, count(*) AS pages, sum(requests) AS requests, sum(bytes) AS bytes, count(bytes) AS sized,
                sum(blockMs) AS blockMs, ${quantile('CASE WHEN telling = 1 THEN coalesce(blockMs, 0) END', 0.75)} AS p75BlockMs
              FROM (
                SELECT vendor, page, sum(requests) AS requests, sum(bytes) AS bytes, sum(blockMs) AS blockMs,
                  max(CASE WHEN loaf THEN 1 ELSE 0 END) AS telling
                FROM pages WHERE ${where} GROUP BY vendor, page HAVING sum(requests) > 0 OR sum(blockMs) > 0
              ) AS seen GROUP BY vendor
            ) AS costs
          ) AS shared
          JOIN (
            SELECT vendor, ${firstOf('vendorHost', ['vendorHost'], MAX_HOSTS)} AS hosts
            FROM (SELECT DISTINCT vendor, vendorHost FROM pages WHERE ${where}) AS pairs GROUP BY vendor
          ) AS named USING (vendor)
          LEFT JOIN (
            SELECT vendor, ${quantile('tookMs', 0.5)} AS p50DurMs, ${quantile('tookMs', 0.75)} AS p75DurMs, max(tookMs) AS maxMs
            FROM (SELECT vendor, unnest(durMs) AS tookMs FROM pages WHERE ${where}) AS requested GROUP BY vendor
          ) AS durations USING (vendor)
          ORDER BY coalesce(p75BlockMs, 0) DESC, coalesce(blockMs, 0) DESC, pages DESC, vendor LIMIT ${MAX_VENDORS}`,
      }
    },
  })
}
