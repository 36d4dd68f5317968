import { capitalized } from '../../core/text.ts'
import type { Cell, PlainBlock } from '../../mail/mail-document.ts'
import type { DigestFacts } from '../digest-facts.ts'
import { isNotable, moveOf, type NameCount, type Sum, sumOf, surenessOf } from '../event-traffic.ts'
import {
  comparisonText,
  eventCount,
  eventsOf,
  moreText,
  moveCell,
  movePhrase,
  moveText,
  nameOf,
} from '../format-figures.ts'
import { focusedFirst, focusRank, matches } from '../reader-focus.ts'
import { type DigestSection, type Lead, type SectionContext, WEIGHT } from './section.ts'

const MAX_VENDORS = 8
const MAX_VENDORS_MARKETING = 15
const MAX_EVENTS = 6
const MAX_EVENTS_MARKETING = 15
const MAX_MOVES = 8

/** Number of events by vendor, and counts with significant changes. */
export const trafficSection: DigestSection = {
  id: 'traffic',
  title: 'Volume',
  of: { executive: 'Data collected', marketing: 'Data sent by your tags' },
  write(facts, reader) {
    const { names, hours } = facts.traffic
    if (names.length === 0) return null
    const total = sumOf(names)
    const moves = notableNames(names)
    const blocks: PlainBlock[] = [
      { kind: 'text', text: `${capitalized(eventsOf(total.now))}, ${againstText(total)}.` },
      { kind: 'hours', from: facts.span.window.from, timezone: facts.timezone, ...hours },
      vendorTable(names, reader),
      ...(moves.length > 0 ? [moveTable(moves, facts, reader)] : []),
      ...(reader.audience === 'executive' ? [] : [eventTable(names, facts, reader)]),
    ]
    return { blocks, lead: leadOf(total, moves, facts) }
  },
}

const againstText = ({ now, before }: Sum) =>
  now === 0 || !before
    ? comparisonText(now, before)
    : `${moveText(now, before)} compared with ${eventCount(before)} a week earlier`

/** Names with notable changes, most significant first. */
function notableNames(names: readonly NameCount[]): NameCount[] {
  return names
    .filter(({ now, before }) => isNotable(now, before))
    .toSorted((a, b) => surenessOf(b.now, b.before) - surenessOf(a.now, a.before))
}

interface VendorSum extends Sum {
  domainId: null
  vendor: string
  event: null
}

function vendorsOf(names: readonly NameCount[]): VendorSum[] {
  return [...Map.groupBy(names, ({ vendor }) => vendor)]
    .map(([vendor, own]) => ({ domainId: null, vendor, event: null, ...sumOf(own) }))
    .toSorted((a, b) => b.now - a.now)
}

function vendorTable(names: readonly NameCount[], { focus, audience }: SectionContext): PlainBlock {
  const vendors = vendorsOf(names)
  const most = audience === 'marketing' ? MAX_VENDORS_MARKETING : MAX_VENDORS
  // A vendor is in focus if one of its events is in focus.
  const places = new Map<string, number>()
  for (const name of names) {
    places.set(name.vendor, Math.min(focusRank(focus, name), places.get(name.vendor) ?? focus.named.length))
  }
  const place = ({ vendor }: VendorSum) => places.get(vendor) ?? focus.named.length
  const shown = vendors.toSorted((a, b) => place(a) - place(b)).slice(0, most)
  return {
    kind: 'table',
    head: ['Vendor', '24 h', 'a week earlier', 'change'],
    rows: shown.map(({ vendor, ...sum }) => [{ text: nameOf({ vendor, event: null }) }, ...countCells(sum)]),
    more: moreText(vendors.length, shown.length, 'vendors'),
  }
}

export const countCells = ({ now, before }: Sum): Cell[] => [
  { text: eventCount(now) },
  { text: before === null ? '–' : eventCount(before) },
  moveCell(now, before),
]

function eventTable(
  names: readonly NameCount[],
  { domainNames }: DigestFacts,
  { focus, audience }: SectionContext,
): PlainBlock {
  const most = audience === 'marketing' ? MAX_EVENTS_MARKETING : MAX_EVENTS
  const shown = focusedFirst(names, focus, (name) => name).slice(0, most)
  return {
    kind: 'table',
    head: ['Event', '24 h', 'a week earlier', 'change'],
    rows: shown.map((name) => [
      { text: nameOf(name), note: domainNames.get(name.domainId) ?? '' },
      ...countCells(name),
    ]),
    more: moreText(names.length, shown.length, 'events'),
  }
}

function moveTable(moves: readonly NameCount[], { domainNames }: DigestFacts, { focus }: SectionContext): PlainBlock {
  const shown = focusedFirst(moves, focus, (move) => move).slice(0, MAX_MOVES)
  return {
    kind: 'table',
    head: ['Notable changes', '24 h', 'a week earlier', 'change'],
    rows: shown.map((name) => [
      { text: nameOf(name), note: domainNames.get(name.domainId) ?? '' },
      ...countCells(name),
    ]),
    more: moreText(moves.length, shown.length),
  }
}

function leadOf(total: Sum, moves: readonly NameCount[], { domainNames, traffic }: DigestFacts): Lead {
  const stopped = [...domainNames].find(([id]) => {
    const own = sumOf(traffic.names.filter((name) => matches({ kind: 'domain', name: '', domainId: id }, name)))
    return own.now === 0 && isNotable(own.now, own.before)
  })
  if (stopped) return { weight: WEIGHT.trafficStopped, text: `No events from ${stopped[1]} in 24 hours` }
  const [fall] = moves.filter(({ now, before }) => ['fall', 'stopped'].includes(moveOf(now, before).kind))
  if (fall) return { weight: WEIGHT.trafficFell, text: moveSentence(fall, domainNames) }
  const [rise] = moves
  if (rise) return { weight: WEIGHT.trafficRose, text: moveSentence(rise, domainNames) }
  return { weight: WEIGHT.usual, text: `${capitalized(eventsOf(total.now))}, ${againstText(total)}` }
}

/** Returns a sentence such as `Meta Pixel Purchase fell by 80 % on Shop`. */
function moveSentence(name: NameCount, domainNames: ReadonlyMap<string, string>): string {
  const domain = domainNames.get(name.domainId)
  const place = domain && domainNames.size > 1 ? ` on ${domain}` : ''
  return `${nameOf(name)} ${movePhrase(name.now, name.before)}${place}`
}
