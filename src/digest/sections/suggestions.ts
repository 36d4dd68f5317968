import { moreText } from '../format-figures.ts'
import { focusedFirst } from '../reader-focus.ts'
import type { DigestSection } from './section.ts'

const MAX_SUGGESTIONS = 3

/** Suggested rules that current traffic satisfies and that no alert checks yet. */
export const suggestionsSection: DigestSection = {
  id: 'suggestions',
  title: 'Suggested alerts',
  write({ suggestions }, { focus, audience }) {
    if (suggestions.length === 0 || audience === 'executive') return null
    const shown = focusedFirst(suggestions, focus, (one) => one).slice(0, MAX_SUGGESTIONS)
    const items = shown.map(({ name, reason }) => ({
      title: name,
      badge: null,
      note: reason,
      lines: [],
      rows: [],
      url: null,
    }))
    return { blocks: [{ kind: 'items', items, more: moreText(suggestions.length, shown.length) }], lead: null }
  },
}
