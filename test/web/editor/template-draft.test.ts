import { expect, test } from 'bun:test'
import { readAlertInput } from '../../../src/alerts/alert-input.ts'
import { toPreviewInput } from '../../../src/web/pages/alerts/editor/draft-input.ts'
import { draftFromTemplate, TEMPLATE_NAMES } from '../../../src/web/pages/alerts/editor/template-draft.ts'

test.each(TEMPLATE_NAMES)('what the template %s begins is an alert', (name) => {
  const rule = toPreviewInput(draftFromTemplate(name))
  expect(readAlertInput(rule)).toEqual(rule as never)
})
