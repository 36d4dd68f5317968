import type { WebFile } from '../../browser/fetch-web-file.ts'
import { messageOf } from '../../core/error.ts'
import { plainEscapes } from './normalize-page-url.ts'

/** Name of this crawler in robots.txt. */
const ROBOT = 'tagwarden'

/** The rules of a host for crawlers (RFC 9309). */
export interface Robots {
  allows(address: string): boolean
  /** Required delay between two pages in milliseconds; 0 when none is required. */
  delayMs: number
}

interface Rule {
  allows: boolean
  pattern: string
}

interface Group {
  agents: string[]
  rules: Rule[]
  delayMs: number
}

/** Maximum number of bytes of a robots.txt that are parsed. The rest is ignored (section 2.5). */
export const ROBOTS_MAX_BYTES = 500 * 1024
/** Maximum accepted delay. With a longer delay, even a short crawl would take a day. */
const DELAY_MAX_MS = 30_000

const ALLOWS_ALL: Robots = { allows: () => true, delayMs: 0 }
const ALLOWS_NONE: Robots = { allows: () => false, delayMs: 0 }

/** Parses a robots.txt. Invalid lines are ignored, and multiple groups for this crawler are merged. */
export function parseRobots(text: string): Robots {
  const groups = groupsOf(text)
  const ours = groups.filter(({ agents }) => agents.includes(ROBOT))
  const chosen = ours.length > 0 ? ours : groups.filter(({ agents }) => agents.includes('*'))
  const rules = chosen.flatMap((group) => group.rules)
  return {
    allows: (address) => isAllowed(rules, address),
    delayMs: Math.min(DELAY_MAX_MS, Math.max(0, ...chosen.map(({ delayMs }) => delayMs))),
  }
}

function groupsOf(text: string): Group[] {
  const groups: Group[] = []
  let namesAgents = false
  for (const line of text.replace(/^\uFEFF/, '').split(/\r\n?|\n/)) {
    const [, name = '', value = ''] = /^\s*([\w-]+)\s*:\s*([^#]*?)\s*(?:#.*)?$/.exec(line) ?? []
    const key = name.toLowerCase()
    if (key === 'user-agent') {
      if (!namesAgents) groups.push({ agents: [], rules: [], delayMs: 0 })
      namesAgents = true
      groups.at(-1)?.agents.push(agentOf(value))
      continue
    }
    const group = groups.at(-1)
    if (!group || !['allow', 'disallow', 'crawl-delay'].includes(key)) continue
    namesAgents = false
    if (key === 'crawl-delay') group.delayMs = Math.max(group.delayMs, Number(value) * 1000 || 0)
    else if (value !== '') group.rules.push({ allows: key === 'allow', pattern: plainPattern(value) })
  }
  return groups
}

/** `Tagwarden/1.0` → `tagwarden` */
const agentOf = (value: string) => (value === '*' ? '*' : (/^[\w-]*/.exec(value)?.[0] ?? '').toLowerCase())

/** Encodes non-ASCII characters in a pattern as in URLs. */
const plainPattern = (value: string) => plainEscapes(value.toWellFormed().replaceAll(/[^!-~]/gu, encodeURIComponent))

/**
 * Returns whether a URL is allowed. The longest matching rule applies. If an allowing rule and a disallowing rule have
 * the same length, the URL is allowed.
 */
function isAllowed(rules: readonly Rule[], address: string): boolean {
  const { pathname, search } = new URL(address)
  if (pathname === '/robots.txt') return true
  const target = plainEscapes(pathname + search)
  let best: Rule | null = null
  for (const rule of rules) {
    const isBetter =
      !best || rule.pattern.length > best.pattern.length || (rule.pattern.length === best.pattern.length && rule.allows)
    if (isBetter && fits(rule.pattern, target)) best = rule
  }
  return best?.allows ?? true
}

/**
 * Returns whether a pattern matches a URL. `*` matches any string, and `$` at the end of the pattern matches the end of
 * the URL. It is sufficient to backtrack to the last `*`.
 */
function fits(pattern: string, target: string): boolean {
  const toEnd = pattern.endsWith('$')
  const end = toEnd ? pattern.length - 1 : pattern.length
  let [at, place, star, restart] = [0, 0, -1, 0]
  while (true) {
    if (place === end && (!toEnd || at === target.length)) return true
    if (place < end && pattern[place] === '*') {
      star = ++place
      restart = at
    } else if (place < end && at < target.length && pattern[place] === target[at]) {
      place++
      at++
    } else if (star >= 0 && restart < target.length) {
      place = star
      at = ++restart
    } else return false
  }
}

/** Rules of a host. `fault` is the reason why the rules could not be read, or null. */
interface HostRobots extends Robots {
  fault: string | null
}

/** Caches the robots.txt of each host. */
export class RobotsBook {
  private readonly known = new Map<string, Promise<HostRobots>>()

  /** @param read reads a file; null to ignore robots.txt and allow everything */
  constructor(private readonly read: ((url: string) => Promise<Pick<WebFile, 'status' | 'body'>>) | null) {}

  of(address: string): Promise<HostRobots> {
    const { origin } = new URL(address)
    const known = this.known.get(origin) ?? this.ask(origin)
    this.known.set(origin, known)
    return known
  }

  /**
   * Reads the rules of a host. A host without a robots.txt allows everything. If the file can't be read, nothing is
   * allowed (RFC 9309, section 2.3.1). A response with status 429 counts as a file that can't be read.
   */
  private async ask(origin: string): Promise<HostRobots> {
    if (this.read === null) return { ...ALLOWS_ALL, fault: null }
    try {
      const { status, body } = await this.read(`${origin}/robots.txt`)
      if (status >= 500 || status === 429) return { ...ALLOWS_NONE, fault: `it responded with status ${status}` }
      const robots = status >= 200 && status < 300 ? parseRobots(new TextDecoder().decode(body)) : ALLOWS_ALL
      return { ...robots, fault: null }
    } catch (error) {
      return { ...ALLOWS_NONE, fault: messageOf(error) }
    }
  }
}
