import { expect, test } from 'bun:test'
import { alertTypes } from '../../src/alerts/types/index.ts'
import { messages } from '../../src/web/messages.ts'

test('pages call a type of alerts as the interface does', () => {
  const titles = Object.fromEntries(alertTypes.map(({ kind, title }) => [kind, title]))
  expect(messages.api.alertTypes).toMatchObject(titles)
})
