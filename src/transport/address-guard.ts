import { lookup } from 'node:dns/promises'
import { AppError } from '../core/error.ts'
import {
  type Address,
  type Cidr,
  contains,
  formatAddress,
  parseAddress,
  parseCidr,
  unmapped,
  unmappedBlock,
} from '../core/ip-address.ts'
import { destinations, judge } from './classify-address.ts'

/** Resolves a host name to its IPv4 and IPv6 addresses in order of preference. Throws if it has no addresses. */
export type Resolve = (host: string) => Promise<string[]>

/** A checked destination. Connections are permitted to these addresses only. */
interface VettedAddress {
  /** Host name for the certificate. IPv6 addresses have no brackets. */
  host: string
  port: number
  /** Permitted addresses, at least one. IPv6 addresses that are mapped to IPv4 are converted to IPv4. */
  addresses: { address: string; family: 4 | 6 }[]
}

/**
 * Decides which URLs the server may call on behalf of users, so that users cannot use the server to reach internal
 * hosts. Errors are `AppError('invalid')`. Their messages are written to follow a field name (`must be …`, `host …`).
 */
export interface AddressGuard {
  /**
   * Checks a URL without DNS and returns it with a normalised host. Allows https. Allows http for hosts on the allow
   * list, or for all hosts if plain http is enabled. Rejects credentials, and ports other than 80, 443, and 1024 and
   * above.
   */
  checkUrl(text: string): URL
  /** True if the allow list contains this host. The host must be in lower case. */
  names(host: string): boolean
  /**
   * Resolves the host of a URL. Fails if one of its addresses is blocked. If a name does not resolve, fails with
   * `AppError('upstream')`, because it may resolve later.
   */
  vet(url: URL, resolve?: Resolve): Promise<VettedAddress>
}

const MAX_URL_LENGTH = 2000
const LOCAL_NAMES = /^(?:(?:.+\.)?localhost|metadata\.google\.internal)$/
const LISTED = 'allow it in TAGWARDEN_OUTBOUND_ALLOW if intended'

/** Resolves names with the system's resolver, including the hosts file. */
export const systemResolve: Resolve = async (host) =>
  (await lookup(host, { all: true, order: 'verbatim' })).map(({ address }) => address)

interface AllowList {
  names: ReadonlySet<string>
  blocks: readonly Cidr[]
  plainHttp: boolean
}

/**
 * @param allow Host names, addresses and CIDR blocks that may be reached although they are private or forbidden. A name
 * allows all addresses that it resolves to. A block allows its addresses, but allows http only if the URL contains the
 * address itself. A cloud's metadata address requires an entry for that single address.
 * @param plainHttp Allows http for every host, as a browser does. Default false.
 * @throws Error if an entry is invalid. The error names the entry.
 */
export function addressGuard(allow: readonly string[], { plainHttp = false } = {}): AddressGuard {
  const list = { ...parseAllowList(allow), plainHttp }
  return {
    checkUrl: (text) => checkUrl(text, list),
    names: (host) => list.names.has(host),
    vet: (url, resolve = systemResolve) => vet(url, resolve, list),
  }
}

function parseAllowList(entries: readonly string[]): Omit<AllowList, 'plainHttp'> {
  const names = new Set<string>()
  const blocks: Cidr[] = []
  for (const entry of entries.map((text) => text.trim()).filter((text) => text !== '')) {
    const block = parseCidr(entry)
    if (block) blocks.push(unmappedBlock(block))
    else names.add(plainName(entry))
  }
  return { names, blocks }
}

function plainName(entry: string): string {
  const url = /^[^\s/:@?#\\[\]]+$/.test(entry) ? URL.parse(`https://${entry}`) : null
  const name = url && withPlainHost(url)?.hostname
  if (!name || !/^[\w.-]+$/.test(name) || parseAddress(name)) {
    throw new Error(`TAGWARDEN_OUTBOUND_ALLOW: "${entry}" is not a host name, IP address or CIDR block`)
  }
  return name
}

/** Returns the origin of a URL with a normalised host. Empty if the URL has no host. */
export function originOf(text: string): string {
  const url = URL.parse(text)
  return (url && withPlainHost(url)?.origin) ?? ''
}

/** Normalises the host of a URL to lower case without a trailing dot. Null if the host is then empty. */
function withPlainHost(url: URL): URL | null {
  const host = url.hostname.replace(/\.$/, '')
  if (host === '' || host.endsWith('.')) return null
  const plain = new URL(url)
  plain.hostname = host
  return plain
}

function checkUrl(text: string, list: AllowList): URL {
  if (text.length > MAX_URL_LENGTH) throw new AppError('invalid', `must have at most ${MAX_URL_LENGTH} characters`)
  // The parser would silently drop these characters, so the checked URL would differ from the entered URL.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters looked for
  if (/[\s\u0000-\u001f\u007f]/.test(text)) throw new AppError('invalid', 'must be a URL without spaces')
  const parsed = URL.parse(text)
  if (!parsed || !['https:', 'http:'].includes(parsed.protocol)) throw new AppError('invalid', 'must be an https URL')
  const url = withPlainHost(parsed)
  if (!url) throw new AppError('invalid', 'must be an https URL with a host')
  if (url.username !== '' || url.password !== '') {
    throw new AppError('invalid', 'must not contain a user name or password')
  }
  const port = portOf(url)
  if (port !== 80 && port !== 443 && port < 1024) {
    throw new AppError('invalid', `port ${port} is not allowed: use port 80, 443, or any port from 1024`)
  }
  checkHost(url, list)
  return url
}

function checkHost(url: URL, list: AllowList): void {
  const host = bareHost(url)
  const address = parseAddress(host)
  const listed = address ? destinations(address).every((place) => isListed(place, list)) : list.names.has(host)
  if (address) refuseBlocked(host, address, false, list)
  else if (!listed && LOCAL_NAMES.test(host)) {
    throw new AppError('invalid', `host ${host} belongs to this machine or its cloud: ${LISTED}`)
  }
  if (url.protocol === 'http:' && !listed && !list.plainHttp) {
    throw new AppError('invalid', 'must be an https URL (http only for hosts in TAGWARDEN_OUTBOUND_ALLOW)')
  }
}

async function vet(url: URL, resolve: Resolve, list: AllowList): Promise<VettedAddress> {
  const host = bareHost(url)
  const literal = parseAddress(host)
  const addresses = literal ? [literal] : await resolved(host, resolve)
  for (const address of addresses) refuseBlocked(host, address, list.names.has(host), list)
  return { host, port: portOf(url), addresses: addresses.map(reachable) }
}

async function resolved(host: string, resolve: Resolve): Promise<Address[]> {
  const failed = new AppError('upstream', `host ${host} does not resolve`)
  const texts = await resolve(host).catch(() => {
    throw failed
  })
  const addresses = texts.map(parseAddress)
  const known = addresses.filter((address) => address !== null)
  if (known.length === 0 || known.length < addresses.length) throw failed
  return known
}

/** Throws unless every destination of the address is public or on the allow list. */
function refuseBlocked(host: string, address: Address, nameListed: boolean, list: AllowList): void {
  for (const place of destinations(address)) {
    const { tier, what, exact } = judge(place)
    if (tier === 'public' || isListed(place, list) || (nameListed && !exact)) continue
    // Omits the address because it would reveal internal DNS data.
    const means = parseAddress(host) ? 'is' : 'resolves to'
    throw new AppError('invalid', `host ${host} ${means} ${what}: ${LISTED}`)
  }
}

function isListed(place: Address, list: AllowList): boolean {
  const { exact } = judge(place)
  return list.blocks.some(
    (block) => contains(block, place) && (!exact || block.bits === (place.family === 4 ? 32 : 128)),
  )
}

/** Returns the address to connect to. Operating systems send packets for IPv4-mapped addresses over IPv4. */
function reachable(address: Address): { address: string; family: 4 | 6 } {
  const target = unmapped(address)
  return { address: formatAddress(target), family: target.family }
}

const bareHost = (url: URL) => url.hostname.replace(/^\[(.*)\]$/, '$1')

const portOf = (url: URL) => Number(url.port || (url.protocol === 'https:' ? 443 : 80))
