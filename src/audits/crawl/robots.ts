import { plainEscapes } from './address.ts'

/** By which name robots.txt speaks to us. */
export const ROBOT = 'tagwarden'

/** What a host asks of those who crawl it: RFC 9309. */
export interface Robots {
  allows(address: string): boolean
  /** Pause between two pages that it asks for; 0: none. */
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

/** What is behind it is not read: section 2.5. */
export const ROBOTS_MAX_BYTES = 500 * 1024
/** A longer pause would let a crawl of some pages take a day. */
const DELAY_MAX_MS = 30_000

export const ALLOWS_ALL: Robots = { allows: () => true, delayMs: 0 }
export const ALLOWS_NONE: Robots = { allows: () => false, delayMs: 0 }

/** Reads a robots.txt. Lines that mean nothing are passed over; groups that name us twice count together. */
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

/** In the spelling of addresses: other characters than those of ASCII are written as escapes. */
const plainPattern = (value: string) => plainEscapes(value.toWellFormed().replaceAll(/[^!-~]/gu, encodeURIComponent))

/** The longest rule that fits says it; of two that are as long the one that allows. */
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

/** `*` is any text, `$` at the end is the end. Goes back to the last `*` only, which is enough. */
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
