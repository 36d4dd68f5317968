import { momentText } from '../core/moment-text.ts'
import { oneLine } from '../core/text.ts'
import { type MailDocument, NO_EXTRAS, type Tone } from '../mail/mail-document.ts'
import { type DigestFacts, durationText, hasData } from './digest-facts.ts'
import { countOf } from './format-figures.ts'
import { type Audience, parseContext } from './reader-focus.ts'
import { changesSection } from './sections/changes.ts'
import { complianceSection } from './sections/compliance.ts'
import { focusSection } from './sections/focus.ts'
import { issuesSection } from './sections/issues.ts'
import { valueSection } from './sections/key-figures.ts'
import { weekSection } from './sections/last-week.ts'
import { newNamesSection } from './sections/new-names.ts'
import { ordersSection } from './sections/orders.ts'
import { type DigestSection, type Lead, type SectionContext, type SectionText, WEIGHT } from './sections/section.ts'
import { suggestionsSection } from './sections/suggestions.ts'
import { trafficSection } from './sections/traffic.ts'

const SECTIONS: readonly DigestSection[] = [
  focusSection,
  weekSection,
  valueSection,
  issuesSection,
  changesSection,
  complianceSection,
  ordersSection,
  trafficSection,
  newNamesSection,
  suggestionsSection,
]

/** Sections shown first to each audience. The other sections follow in the default order. */
const FIRST: Readonly<Record<Audience, readonly DigestSection['id'][]>> = {
  executive: ['value', 'issues', 'orders'],
  marketing: ['traffic', 'news', 'orders'],
  developer: ['issues', 'changes', 'news'],
  privacy: ['compliance'],
}

/** Weight added to leads from the sections shown first to the recipient's audience. */
const OWN_WEIGHT = 10_000

export interface BuildOptions {
  context: string
  /** Public URL of the server, without a trailing slash. */
  publicUrl: string
  unsubscribeUrl: string | null
  /** The reason for receiving the digest: `You receive this …`. */
  because: string
}

interface Written extends SectionText {
  section: DigestSection
}

/** Builds the digest document for one recipient. Pure function. */
export function buildDigest(facts: DigestFacts, options: BuildOptions): MailDocument {
  const { publicUrl, unsubscribeUrl, because } = options
  const focus = parseContext(options.context, facts.names)
  const audience = focus.audiences[0] ?? null
  const reader: SectionContext = { focus, audience, publicUrl }
  const order = ['focus', ...focus.audiences.flatMap((one) => FIRST[one])]
  const place = ({ id }: DigestSection) => (order.includes(id) ? order.indexOf(id) : order.length)
  const shared = {
    ...NO_EXTRAS,
    about: `digest for ${facts.orgName}`,
    kicker: `24 hours to ${momentText(facts.span.window.to, facts.timezone)}, compared with the same hours a week earlier`,
    notes: notesOf(facts, because),
    links: [
      { text: 'Open Tagwarden', url: `${publicUrl}/` },
      ...(unsubscribeUrl === null ? [] : [{ text: 'Unsubscribe', url: unsubscribeUrl }]),
    ],
  }
  const isQuiet = !hasData(facts)
  const written = (isQuiet ? [weekSection] : SECTIONS)
    .toSorted((a, b) => place(a) - place(b))
    .flatMap((section): Written[] => {
      const text = section.write(facts, reader)
      return text ? [{ ...text, section }] : []
    })
  const sections = written.map(({ section, blocks }) => ({ title: titleOf(section, audience), blocks }))
  if (isQuiet) return { ...shared, ...quietText(facts), sections }
  const leads = leadsOf(written, audience)
  const [first = NOTHING, second] = leads
  return {
    ...shared,
    subject: subjectOf(facts, first),
    preview: second ? `${second.text}.` : shared.kicker,
    headline: `${first.text}.`,
    tone: toneOf(first),
    others: leads.slice(1, 1 + MAX_OTHERS).map(({ text }) => `${text}.`),
    sections,
  }
}

/** Maximum number of sentences below the headline. */
const MAX_OTHERS = 3

const NOTHING: Lead = { weight: WEIGHT.usual, text: 'Everything is normal' }

/**
 * Sorts leads: those about names in the recipient's context come first, then those from the audience's sections, then
 * by weight.
 */
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

/** Text of a digest without activity. It shows that digests work, and reports the last event and open issues. */
function quietText({ orgName, timezone, lastEventAt, issues: { open } }: DigestFacts) {
  const last =
    lastEventAt === null
      ? 'No events have been received yet.'
      : `The last event was received on ${momentText(lastEventAt, timezone)}.`
  const openIssues =
    open.length === 0 ? 'There are no open issues.' : `${countOf(open.length, 'older issue')} still open.`
  const text = 'A quiet day: no events, issues or changes in 24 hours'
  return {
    subject: oneLine(`${orgName}: ${text.charAt(0).toLowerCase()}${text.slice(1)}`, MAX_SUBJECT),
    preview: `${last} ${openIssues}`,
    headline: `${text}.`,
    tone: 'plain' as const,
    others: [last, openIssues],
  }
}

function notesOf({ gaps, leftOut }: DigestFacts, because: string): string[] {
  const { nowMs, beforeMs } = gaps
  const gap = (ms: number, when: string) =>
    ms > 0 ? [`This server could not collect data for ${durationText(ms)} of ${when}, so counts are too low.`] : []
  return [
    ...gap(nowMs, 'these 24 hours'),
    ...gap(beforeMs, 'the same hours a week earlier'),
    ...(leftOut.length > 0 ? [`Not included because the query took too long: ${leftOut.join(', ')}.`] : []),
    because,
  ]
}
