import { describe, expect, test } from 'bun:test'
import { matching } from './palette-actions.ts'

const ITEMS = [
  { name: 'Mute', keywords: 'silence quiet' },
  { name: 'New alert' },
  { name: 'Alerts' },
  { name: 'Weekly report', keywords: 'pdf' },
]

describe('the command palette', () => {
  test.each([
    ['', ['Mute', 'New alert', 'Alerts', 'Weekly report']],
    ['al', ['Alerts', 'New alert']],
    ['silence', ['Mute']],
    ['rep week', ['Weekly report']],
    ['lert', []],
    ['  MUTE ', ['Mute']],
  ])('lists matching actions for “%s”', (typed, expected) => {
    expect(matching(ITEMS, typed).map(({ name }) => name)).toEqual(expected)
  })
})
