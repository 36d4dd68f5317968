import { describe, expect, test } from 'bun:test'
import { type Entry, linesOf } from './timeline-lines.ts'

const entries = (kinds: string): Entry[] =>
  kinds.split(' ').map((kind, index) => ({ kind, payload: null, createdAt: index }))

describe('the history of an issue', () => {
  test.each([
    ['opened notified notified', ['opened 0', 'notified 1', 'notified 2']],
    ['opened fired held_back fired held_back', ['opened 0', 'fired 1–4 ×2 −2']],
    ['fired', ['fired 0 ×1']],
    ['held_back fired', ['fired 0–1 ×1 −1']],
    ['fired notified fired fired', ['fired 0 ×1', 'notified 1', 'fired 2–3 ×2']],
    ['resolved reopened', ['resolved 0', 'reopened 1']],
  ])('%s', (kinds, expected) => {
    const lines = linesOf(entries(kinds)).map(({ at, until, entry, fired, heldBack }) =>
      [entry.kind, at === until ? at : `${at}–${until}`, fired && `×${fired}`, heldBack && `−${heldBack}`]
        .filter((part) => part !== 0 || part === at)
        .filter((part, index) => index < 2 || part !== 0)
        .join(' '),
    )
    expect(lines).toEqual(expected)
  })
})
