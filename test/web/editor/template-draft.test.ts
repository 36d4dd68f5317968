import { expect, test } from 'bun:test'
import { readAlertInput } from '../../../src/alerts/alert-input.ts'
import { toPreviewInput } from '../../../src/web/pages/alerts/editor/convert-alert-draft.ts'
import { draftFromTemplate, TEMPLATE_NAMES } from '../../../src/web/pages/alerts/editor/template-draft.ts'

test.each(TEMPLATE_NAMES)('the template %s is a valid alert', (name) => {
  const rule = toPreviewInput(draftFromTemplate(name))
  expect(readAlertInput(rule)).toEqual(rule as never)
})
