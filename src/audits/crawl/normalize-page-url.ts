/** Campaign and ad click parameters, which identify the source of a visit, not the page. */
const TRACKING =
  /^(?:utm_\w*|mtm_\w*|pk_\w*|matomo_\w*|hsa_\w*|gclid|gclsrc|dclid|gbraid|wbraid|gad_source|gad_campaignid|fbclid|fb_action_ids|fb_action_types|msclkid|yclid|_openstat|ttclid|twclid|li_fat_id|igshid|igsh|epik|rdt_cid|sccid|irclickid|cjevent|awc|zanpid|mc_cid|mc_eid|mkt_tok|vero_id|oly_anon_id|oly_enc_id|_hsenc|_hsmi|__hssc|__hstc|__hsfp|hsctatracking|_ga|_gl|_gac|s_cid|s_kwcid|ef_id|wickedid|wt_mc|etcc_\w*)$/i
/** Parameters that always contain a session id. */
const SESSION =
  /^(?:jsessionid|phpsessid|aspsessionid\w*|asp\.net_sessionid|sessionid|session_id|oscsid|zenid|cftoken|cfid)$/i
/** Parameters that contain a session id only if their value looks like one. */
const MAYBE_SESSION = /^(?:s|sid|sess|session|token)$/i
const SESSION_VALUE = /^(?=.*\d)[\w-]{16,}$/
/** `/cart;jsessionid=1F0C` */
const SESSION_IN_PATH = /;(?:jsessionid|phpsessid|sid)=[^/;]*/gi
/** `/(S(3keuf0551sktxb45kd1wft55))/default.aspx` */
const SESSION_OF_ASP = /\/\((?:[A-Z]\([\w-]+\))+\)(?=\/)/g

/** Maximum length of a URL. Longer URLs are crawler traps or mistakes. */
const MAX_ADDRESS_LENGTH = 2000
/**
 * Maximum number of path segments. More segments, or one segment repeated more often than `MAX_SAME_PARTS`, result from
 * circular links.
 */
const MAX_PATH_PARTS = 20
const MAX_SAME_PARTS = 3

const isOfNoPage = (name: string, value: string) =>
  TRACKING.test(name) || SESSION.test(name) || (MAYBE_SESSION.test(name) && SESSION_VALUE.test(value))

/**
 * Returns the normalised URL of a page: without fragment, campaign parameters, click ids and session ids, and with its
 * parameters sorted by name. Null for a URL that is not HTTP, contains a user name, is too long, or repeats its own
 * path segments.
 * @param base base URL for a relative URL
 */
export function pageAddress(text: string, base?: string): string | null {
  const url = URL.parse(text, base)
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') return null
  if (url.href.length > MAX_ADDRESS_LENGTH) return null
  url.hash = ''
  url.hostname = url.hostname.replace(/\.$/, '')
  url.pathname = plainEscapes(url.pathname.replaceAll(SESSION_IN_PATH, '').replaceAll(SESSION_OF_ASP, ''))
  const query = queryOf(url.search)
  // Includes the `?`, because the setter would remove a question mark at the beginning of the query.
  url.search = query === '' ? '' : `?${query}`
  return repeatsItself(url.pathname) ? null : url.href
}

/** Returns the query in its original encoding, because re-encoding would change the values that servers read. */
function queryOf(search: string): string {
  const parts = search
    .slice(1)
    .split('&')
    .filter((part) => part !== '')
    .map((part) => {
      const [name = '', value = ''] = part.split(/=(.*)/s)
      return { part: plainEscapes(part), name: readable(name), value: readable(value) }
    })
    .filter(({ name, value }) => !isOfNoPage(name, value))
  // The sort must be stable, because `a=2&a=1` and `a=1&a=2` are different.
  return parts
    .toSorted((one, other) => (one.name < other.name ? -1 : one.name > other.name ? 1 : 0))
    .map(({ part }) => part)
    .join('&')
}

function readable(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch (error) {
    if (!(error instanceof URIError)) throw error
    return text
  }
}

/** `%7euser%2d` → `~user-`: RFC 3986, section 6.2.2. */
export function plainEscapes(text: string): string {
  return text.replaceAll(/%[0-9a-f]{2}/gi, (escaped) => {
    const character = String.fromCharCode(Number.parseInt(escaped.slice(1), 16))
    return /[\w.~-]/.test(character) ? character : escaped.toUpperCase()
  })
}

function repeatsItself(path: string): boolean {
  const parts = path.split('/').filter((part) => part !== '')
  if (parts.length > MAX_PATH_PARTS) return true
  const counts = new Map<string, number>()
  for (const part of parts) counts.set(part, (counts.get(part) ?? 0) + 1)
  return [...counts.values()].some((count) => count > MAX_SAME_PARTS)
}

/** Returns the host and port of a URL, which identify the URL's site. A leading `www.` is ignored. */
export const siteOf = (address: string): string => new URL(address).host.replace(/^www\./, '')

const NUMBER = /\d+/g
const YEAR = /^(?:19|20|21)\d\d$/
const DATE = /^(?:19|20|21)\d\d-?(?:0?[1-9]|1[0-2])(?:-?(?:0?[1-9]|[12]\d|3[01]))?$/
const DAY_OR_MONTH = /^(?:0?[1-9]|[12]\d|3[01])$/
const DATE_NAMES = /^(?:date|day|month|year|week|from|to|start|end|jahr|monat|tag|datum)$/i

/** A group of similar pages. A site may have an unlimited number of pages in such a group. */
export interface Family {
  /** Name of the family. It is the same for URLs that differ only in numbers, dates or parameter values. */
  name: string
  /** Maximum number of pages of the family to visit; null when unlimited. */
  pagesMax: number | null
}

/** Maximum number of calendar pages to visit: one per month for two years. */
const DATED_PAGES_MAX = 24
/** Maximum number of pages with the same path that differ in one parameter: `product.php?id=17`. */
const QUERY_PAGES_MAX = 500
/** Maximum number of pages with the same path that differ in several parameters, such as filtered and sorted lists. */
const FILTERED_PAGES_MAX = 20

/** Returns the family of a URL. */
export function familyOf(address: string): Family {
  const { host, pathname, search } = new URL(address)
  const parts = pathname.split('/')
  const query = search
    .slice(1)
    .split('&')
    .filter((part) => part !== '')
    .map((part) => part.split(/=(.*)/s))
  const path = `${host}${pathname.replaceAll(NUMBER, '#')}`
  const isDated = endsInDate(parts) || query.some(([name = '', value = '']) => saysDate(name, value))
  if (isDated) return { name: `${path} by date`, pagesMax: DATED_PAGES_MAX }
  const names = [...new Set(query.map(([name = '']) => name))]
  if (names.length > 1) return { name: `${host}${pathname} by filters`, pagesMax: FILTERED_PAGES_MAX }
  if (names.length === 1) return { name: `${host}${pathname}?${names[0]}`, pagesMax: QUERY_PAGES_MAX }
  return { name: path, pagesMax: null }
}

/**
 * True for `/calendar/2031/4` and `/events/2031-04-17`, which exist for any date. False for `/blog/2031/04/a-title`,
 * which exists only for a real article.
 */
function endsInDate(parts: readonly string[]): boolean {
  const [before = '', last = ''] = parts.filter((part) => part !== '').slice(-2)
  const only = last === '' ? before : last
  return DATE.test(only) || (YEAR.test(before) && DAY_OR_MONTH.test(last)) || endsInDay(parts)
}

function endsInDay(parts: readonly string[]): boolean {
  const [year = '', month = '', day = ''] = parts.filter((part) => part !== '').slice(-3)
  return YEAR.test(year) && DAY_OR_MONTH.test(month) && DAY_OR_MONTH.test(day)
}

const saysDate = (name: string, value: string) =>
  DATE.test(value) || (DATE_NAMES.test(name) && /^\d{1,10}$/.test(value))
