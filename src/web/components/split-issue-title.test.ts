import { expect, test } from 'bun:test'
import { splitIssueTitle } from './split-issue-title.ts'

test.each<[string, string, string | null]>([
  [
    'Purchases have a value: Google Analytics 4 purchase events break the rule on shop.example',
    'Google Analytics 4 purchase events break the rule on shop.example',
    'Purchases have a value',
  ],
  [
    'Unusual volume (Meta Pixel Purchase): 3 events, expected 120',
    'Meta Pixel Purchase: 3 events, expected 120',
    'Unusual volume',
  ],
  [
    'Journey (EU): sessions do not follow the journey on a.example',
    'EU: sessions do not follow the journey on a.example',
    'Journey',
  ],
  ['Checkout: has a value: events break the rule', 'has a value: events break the rule', 'Checkout'],
  ['No colon at all', 'No colon at all', null],
  ['Ends with a colon:', 'Ends with a colon:', null],
  [': begins with one', ': begins with one', null],
  ['at 10:30 nothing', 'at 10:30 nothing', null],
])('%s', (title, finding, name) => {
  expect(splitIssueTitle(title)).toEqual({ finding, name })
})
