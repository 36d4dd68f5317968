import { timeText } from '../core/text.ts'
import { oneLine } from '../integrations/message/one-line.ts'
import type { DigestDocument, Lead, Tone } from './document.ts'
import { type DigestFacts, durationText, hasData } from './facts.ts'
import { countOf } from './format.ts'
import { type Audience, parseContext } from './reader-focus.ts'
import { changesSection } from './sections/changes.ts'
import { complianceSection } from './sections/compliance.ts'
import { focusSection } from './sections/focus.ts'
import { issuesSection } from './sections/issues.ts'
import { newNamesSection } from './sections/new-names.ts'
import { ordersSection } from './sections/orders.ts'
import { type DigestSection, type SectionContext, type SectionText, WEIGHT } from './sections/section.ts'
import { suggestionsSection } from './sections/suggestions.ts'
import { trafficSection } from './sections/traffic.ts'
import { valueSection } from './sections/value.ts'
import { weekSection } from './sections/week.ts'

const SECTIONS: readonly DigestSection[] = [
  ...[focusSection, weekSection, valueSection, issuesSection, changesSection, complianceSection],
  ...[ordersSection, trafficSection, newNamesSection, suggestionsSection],
]

/** What each audience wants to see first; the rest follows in the usual order. */
const FIRST: Readonly<Record<Audience, readonly DigestSection['id'][]>> = {
  executive: ['value', 'issues', 'orders'],
  marketing: ['traffic', 'news', 'orders'],
  developer: ['issues', 'changes', 'news'],
  privacy: ['compliance'],
}

/** What is at stake for an audience is told before what weighs more for others. */
const OWN_WEIGHT = 10_000

export interface BuildOptions {
  context: string
  /** Address under which people reach the server, without a slash at its end. */
  publicUrl: string
  unsubscribeUrl: string | null
  /** Why somebody gets it: `You get this …`. */
  because: string
}

interface Written extends SectionText {
  section: DigestSection
}

/** What a digest says to one reader. Pure. */
export function buildDigest(facts: DigestFacts, options: BuildOptions): DigestDocument {
  const { publicUrl, unsubscribeUrl, because } = options
  const focus = parseContext(options.context, facts.names)
  const audience = focus.audiences[0] ?? null
  const reader: SectionContext = { focus, audience, publicUrl }
  const order = ['focus', ...focus.audiences.flatMap((one) => FIRST[one])]
  const place = ({ id }: DigestSection) => (order.includes(id) ? order.indexOf(id) : order.length)
  const shared = {
    ...{ orgName: facts.orgName, unsubscribeUrl, url: `${publicUrl}/` },
    period: `24 hours to ${timeText(facts.span.window.to)}, beside the same hours a week earlier`,
    notes: notesOf(facts, because),
  }
  const isQuiet = !hasData(facts)
  const written = (isQuiet ? [weekSection] : SECTIONS)
    .toSorted((a, b) => place(a) - place(b))
    .flatMap((section): Written[] => {
      const text = section.write(facts, reader)
      return text ? [{ ...text, section }] : []
    })
  const sections = written.map(({ section, blocks }) => ({ title: titleOf(section, audience), blocks }))
  if (isQuiet) return { ...shared, ...quietWords(facts), sections }
  const leads = leadsOf(written, audience)
  const [first = NOTHING, second] = leads
  return {
    ...shared,
    subject: subjectOf(facts, first),
    preview: second ? `${second.text}.` : shared.period,
    headline: `${first.text}.`,
    tone: toneOf(first),
    others: leads.slice(1, 1 + MAX_OTHERS).map(({ text }) => `${text}.`),
    sections,
  }
}

/** The most that follow the headline. */
const MAX_OTHERS = 3

const NOTHING: Lead = { weight: WEIGHT.usual, text: 'Everything is as usual' }

/** What was asked for by name leads, then what the audience wants to see first, then what weighs most. */
function leadsOf(written: readonly Written[], audience: Audience | null): Lead[] {
  const own = audience ? FIRST[audience] : []
  const bonusOf = (id: DigestSection['id'], { weight }: Lead) => {
    if (id === 'focus') return OWN_WEIGHT * (own.length + 1)
    return own.includes(id) && weight > WEIGHT.usual ? OWN_WEIGHT * (own.length - own.indexOf(id)) : 0
  }
  return written
    .flatMap(({ lead, section: { id } }) => (lead ? [{ lead, weight: lead.weight + bonusOf(id, lead) }] : []))
    .toSorted((a, b) => b.weight - a.weight)
    .map(({ lead }) => lead)
}

const titleOf = ({ title, of = {} }: DigestSection, audience: Audience | null) => (audience && of[audience]) ?? title

const MAX_SUBJECT = 150

const subjectOf = ({ orgName }: DigestFacts, { text }: Lead) => oneLine(`${orgName}: ${text}`, MAX_SUBJECT)

function toneOf({ weight }: Lead): Tone {
  if (weight >= WEIGHT.trafficFell) return 'bad'
  if (weight >= WEIGHT.trafficRose) return 'warn'
  return weight === WEIGHT.resolved || weight === WEIGHT.usual ? 'good' : 'plain'
}

/** The line of a quiet week: that the digest still works, and what is known. */
function quietWords({ orgName, lastEventAt, issues: { open } }: DigestFacts) {
  const last = lastEventAt === null ? 'No event ever came.' : `The last event came on ${timeText(lastEventAt)}.`
  const standing = open.length === 0 ? 'No issue is open.' : `${countOf(open.length, 'issue')} open since longer.`
  const text = 'A quiet day: no event, issue or change in 24 hours'
  return {
    subject: oneLine(`${orgName}: ${text.charAt(0).toLowerCase()}${text.slice(1)}`, MAX_SUBJECT),
    preview: `${last} ${standing}`,
    headline: `${text}.`,
    tone: 'plain' as const,
    others: [last, standing],
  }
}

function notesOf({ gaps, leftOut }: DigestFacts, because: string): string[] {
  const { nowMs, beforeMs } = gaps
  const gap = (ms: number, when: string) =>
    ms > 0 ? [`For ${durationText(ms)} of ${when} this server could not collect: its counts are too small.`] : []
  return [
    ...gap(nowMs, 'these 24 hours'),
    ...gap(beforeMs, 'the same hours a week earlier'),
    ...(leftOut.length > 0 ? [`Left out, because it took too long to look it up: ${leftOut.join(', ')}.`] : []),
    because,
  ]
}
