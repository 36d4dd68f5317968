import type { ChangeStatus } from '../../contract/statuses.ts'
import { momentText } from '../../core/moment-text.ts'
import type { Item, Tone } from '../../mail/mail-document.ts'
import type { DigestChange } from '../digest-facts.ts'
import { moreText } from '../format-figures.ts'
import { focusRank } from '../reader-focus.ts'
import { type DigestSection, type Lead, type SectionContext, WEIGHT } from './section.ts'

const MAX_CHANGES = 6
const MAX_EFFECTS = 3

const VERDICT: Readonly<Record<ChangeStatus, { text: string; tone: Tone }>> = {
  regressed: { text: 'Regressed', tone: 'bad' },
  clean: { text: 'Clean', tone: 'good' },
  unclear: { text: 'Unclear', tone: 'plain' },
  watching: { text: 'Watching', tone: 'warn' },
}
const ORDER: readonly ChangeStatus[] = ['regressed', 'watching', 'unclear', 'clean']

/** Monitored releases and other changes with their verdicts, harmful ones first. */
export const changesSection: DigestSection = {
  id: 'changes',
  title: 'Releases and changes',
  write({ changes, timezone }, reader) {
    if (changes.length === 0) return null
    const place = (change: DigestChange) =>
      Math.min(
        ...[{ domainId: change.domainId, vendor: null, event: null }, ...change.effects].map((about) =>
          focusRank(reader.focus, about),
        ),
      )
    const shown = changes
      .toSorted((a, b) => place(a) - place(b) || ORDER.indexOf(a.status) - ORDER.indexOf(b.status))
      .slice(0, MAX_CHANGES)
    const items = shown.map((change) => itemOf(change, timezone, reader))
    return { blocks: [{ kind: 'items', items, more: moreText(changes.length, shown.length) }], lead: leadOf(shown) }
  },
}

function itemOf(
  { title, domain, occurredAt, source, status, effects }: DigestChange,
  timezone: string,
  { audience }: SectionContext,
): Item {
  const told =
    audience === 'executive' ? effects.filter(({ harmful }) => harmful).slice(0, 1) : effects.slice(0, MAX_EFFECTS)
  return {
    title,
    badge: VERDICT[status],
    note: [domain, source, momentText(occurredAt, timezone)].join(' · '),
    lines: told.map(({ harmful, detail }) => ({ text: detail, tone: harmful ? ('bad' as const) : ('plain' as const) })),
    rows: [],
    url: null,
  }
}

function leadOf(changes: readonly DigestChange[]): Lead | null {
  const harmful = changes.find(({ status }) => status === 'regressed')
  if (!harmful) return null
  const [effect] = harmful.effects.filter((one) => one.harmful)
  const did = effect ? `: ${effect.detail.replace(/\.$/, '')}` : ''
  return { weight: WEIGHT.regressed, text: `${harmful.title} caused a regression on ${harmful.domain}${did}` }
}
