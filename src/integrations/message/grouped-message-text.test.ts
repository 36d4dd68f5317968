import { expect, test } from 'bun:test'
import { renderGroup } from '../providers/slack/render-message.ts'
import { fitCard, groupCardOf } from '../providers/teams/adaptive-card.ts'
import { textOfGroup } from '../providers/webhook/chat-text.ts'
import { FORMATS } from '../providers/webhook/formats/index.ts'
import { groupText, summarizeGroup } from './grouped-message-text.ts'
import { PURCHASE_FACTS, purchaseMessage } from './message.fixture.ts'
import { groupHtml } from './message-mail.ts'

const messageFor = (name: string | null) =>
  purchaseMessage({ issue: { ...PURCHASE_FACTS.issue, assignee: name === null ? null : { id: 'usr_1', name } } })

/** The renderings of a message about an assigned and an unassigned issue, by product. */
function renderings(name: string): Record<string, string> {
  const members = [messageFor(name), messageFor(null)].map((message) => ({ message, status: 'open' as const }))
  const summary = summarizeGroup(members)
  const { text, blocks } = renderGroup(members)
  return {
    mail: groupText(summary),
    html: groupHtml(summary),
    slackText: text,
    slackBlocks: JSON.stringify(blocks),
    teams: fitCard((cut) => groupCardOf(summary, cut)),
    ...Object.fromEntries(
      FORMATS.flatMap((format) =>
        'markup' in format ? [[format.name, textOfGroup(members, format.markup, format.maxLength).text]] : [],
      ),
    ),
  }
}

test.each(Object.keys(renderings('Ann')))('a message about several issues names their assignees: %s', (product) => {
  const text = renderings('Ann')[product] ?? ''
  expect(text.match(/assigned to Ann\b/g)).toHaveLength(1)
  expect(renderings(`${'N'.repeat(200)}\nAnn`)[product]).not.toContain('N'.repeat(61))
})
