import type { PlainBlock } from '../../mail/mail-document.ts'
import { countOf, eventCount, moreText, nameOf, shortened } from '../format-figures.ts'
import { focusedFirst } from '../reader-focus.ts'
import { type DigestSection, type Lead, WEIGHT } from './section.ts'

const MAX_ROWS = 8

/** Events and parameters that were not seen in the preceding 7 days. */
export const newNamesSection: DigestSection = {
  id: 'news',
  title: 'New events and parameters',
  write({ traffic: { fresh }, newParameters, domainNames }, { focus }) {
    if (fresh.length + newParameters.length === 0) return null
    const place = (domainId: string) => domainNames.get(domainId) ?? ''
    const events = focusedFirst(fresh, focus, (name) => name).slice(0, MAX_ROWS)
    const parameters = focusedFirst(newParameters, focus, (one) => one).slice(0, MAX_ROWS)
    const blocks: PlainBlock[] = []
    if (events.length > 0) {
      blocks.push({
        kind: 'table',
        head: ['New events', '24 h'],
        rows: events.map((name) => [
          { text: nameOf(name), note: place(name.domainId) },
          { text: eventCount(name.now) },
        ]),
        more: moreText(fresh.length, events.length),
      })
    }
    if (parameters.length > 0) {
      blocks.push({
        kind: 'table',
        head: ['New parameters', 'events'],
        rows: parameters.map(({ key, events, ...name }) => [
          { text: shortened(key), note: [nameOf(name), place(name.domainId)].filter(Boolean).join(' · ') },
          { text: eventCount(events) },
        ]),
        more: moreText(newParameters.length, parameters.length),
      })
    }
    return { blocks, lead: leadOf(fresh.length, newParameters.length) }
  },
}

function leadOf(events: number, parameters: number): Lead {
  const parts = [
    ...(events > 0 ? [countOf(events, 'new event')] : []),
    ...(parameters > 0 ? [countOf(parameters, 'new parameter')] : []),
  ]
  return { weight: WEIGHT.newName, text: parts.join(' and ') }
}
