import { lookup } from 'node:dns/promises'
import { AppError } from '../../core/error.ts'
import {
  type Address,
  type Cidr,
  contains,
  formatAddress,
  parseAddress,
  parseCidr,
  unmapped,
  unmappedBlock,
} from '../../core/ip-address.ts'
import { destinations, judge } from './address-range.ts'

/** Every address of a host name, IPv4 and IPv6, in the order in which they should be tried. Throws when it has none. */
export type Resolve = (host: string) => Promise<string[]>

/** A place that may be connected to: these addresses and no other. */
export interface VettedAddress {
  /** The name the certificate must be for; an IPv6 address stands without brackets. */
  host: string
  port: number
  /** Never empty. Each was judged; an address that stands for an IPv4 address is given as that. */
  addresses: { address: string; family: 4 | 6 }[]
}

/**
 * Decides which URLs this program calls on behalf of its users, so that nobody reaches through it what only it can
 * reach. Refusals are `AppError('invalid')` whose message starts where a field's name ends (`must be …`, `host …`).
 */
export interface AddressGuard {
  /**
   * Judges what can be told without asking DNS; answers the URL with its host in one spelling. Only https, http for
   * hosts on the allow list or where every plain http is allowed; no user information; ports 80, 443 and from 1024.
   */
  checkUrl(text: string): URL
  /** True when the allow list names this host, in lower case. */
  names(host: string): boolean
  /**
   * Resolves the URL's host and refuses it when one of its addresses is blocked. A name that doesn't resolve is
   * `AppError('upstream')`: it may later.
   */
  vet(url: URL, resolve?: Resolve): Promise<VettedAddress>
}

const MAX_URL_LENGTH = 2000
const LOCAL_NAMES = /^(?:(?:.+\.)?localhost|metadata\.google\.internal)$/
const LISTED = 'it can be allowed in TAGWARDEN_OUTBOUND_ALLOW'

/** Asks the system's resolver, which also knows the hosts file. */
export const systemResolve: Resolve = async (host) =>
  (await lookup(host, { all: true, order: 'verbatim' })).map(({ address }) => address)

interface AllowList {
  names: ReadonlySet<string>
  blocks: readonly Cidr[]
  plainHttp: boolean
}

/**
 * @param allow host names, addresses and CIDRs that may be reached although they are private or forbidden. A name
 * opens every address it resolves to; a block opens its addresses, for http only where the URL spells the address.
 * A cloud's metadata address is opened by an entry for that one address alone.
 * @param plainHttp true: http is allowed for every host, as for a browser; default false
 * @throws Error naming the entry that is none of these.
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
    throw new Error(`TAGWARDEN_OUTBOUND_ALLOW: "${entry}" is neither a host name nor an address nor a CIDR`)
  }
  return name
}

/** Returns scheme, host and port of a URL, with its host in one spelling; empty when it has no host. */
export function originOf(text: string): string {
  const url = URL.parse(text)
  return (url && withPlainHost(url)?.origin) ?? ''
}

/** The same URL with its host lower-case and without the root's dot; null when nothing is left of the host. */
function withPlainHost(url: URL): URL | null {
  const host = url.hostname.replace(/\.$/, '')
  if (host === '' || host.endsWith('.')) return null
  const plain = new URL(url)
  plain.hostname = host
  return plain
}

function checkUrl(text: string, list: AllowList): URL {
  if (text.length > MAX_URL_LENGTH) throw new AppError('invalid', `must have at most ${MAX_URL_LENGTH} characters`)
  // The parser would drop them silently, and what is checked must be what was written.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters looked for
  if (/[\s\u0000-\u001f\u007f]/.test(text)) throw new AppError('invalid', 'must be a URL without spaces')
  const parsed = URL.parse(text)
  if (!parsed || !['https:', 'http:'].includes(parsed.protocol)) throw new AppError('invalid', 'must be an https URL')
  const url = withPlainHost(parsed)
  if (!url) throw new AppError('invalid', 'must be an https URL with a host')
  if (url.username !== '' || url.password !== '') {
    throw new AppError('invalid', 'must not carry a user name or a password')
  }
  const port = portOf(url)
  if (port !== 80 && port !== 443 && port < 1024) {
    throw new AppError('invalid', `port ${port} is not allowed: use 443, 80 or one from 1024`)
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
    throw new AppError('invalid', `host ${host} is this machine or its cloud: ${LISTED}`)
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

/** Throws unless everything the address stands for is public or opened by the list. */
function refuseBlocked(host: string, address: Address, nameListed: boolean, list: AllowList): void {
  for (const place of destinations(address)) {
    const { tier, what, exact } = judge(place)
    if (tier === 'public' || isListed(place, list) || (nameListed && !exact)) continue
    // Not the address itself: it would tell what the inner DNS knows.
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

/** Systems send packets for a mapped address by IPv4; any other address is used as it is. */
function reachable(address: Address): { address: string; family: 4 | 6 } {
  const target = unmapped(address)
  return { address: formatAddress(target), family: target.family }
}

const bareHost = (url: URL) => url.hostname.replace(/^\[(.*)\]$/, '$1')

const portOf = (url: URL) => Number(url.port || (url.protocol === 'https:' ? 443 : 80))
