import { Button, NumberInput, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { shareRun } from '#client/sdk.gen'
import type { RunDetail } from '#client/types.gen'
import { act } from '../../../api/act.ts'
import { queries } from '../../../api/queries.ts'
import { useFields } from '../../../parts/fields.ts'
import { Form } from '../../../parts/form.tsx'
import { useNow } from '../../../parts/now.ts'
import { Secret } from '../../../parts/secret.tsx'
import { words } from '../../../words.ts'

const DAYS = 30
const MOST_DAYS = 365

/** Makes a public link to a run or an audit, or ends all of them. */
export function ShareForm({ id, shares }: { id: string; shares: RunDetail['shares'] }) {
  const [link, show] = useState<string | null>(null)
  const now = useNow()
  const said = words.tests
  const asksAgain = [[{ _id: 'getRun' }], [{ _id: 'getAudit' }]]
  const { field, sending } = useFields({ expiresInDays: DAYS }, async (body) => {
    show((await shareRun({ path: { id }, body, throwOnError: true })).data.url)
    for (const queryKey of asksAgain) await queries.invalidateQueries({ queryKey })
  })
  const end = () =>
    act({
      send: () => shareRun({ path: { id }, body: { revoke: true }, throwOnError: true }),
      ...{ asksAgain, say: said.linksEnded },
    })
  const valid = shares.filter(({ revokedAt, expiresAt }) => revokedAt === null && expiresAt > now)
  if (link !== null) {
    return (
      <Secret
        {...{ label: said.link, hint: said.linkHint, value: link, button: words.settings.members.done }}
        close={() => show(null)}
      />
    )
  }
  return (
    <Stack gap="md">
      <Text>{said.shareHint}</Text>
      <Form
        sending={sending}
        button={said.makeLink}
        beside={
          valid.length > 0 && (
            <Button variant="default" onClick={() => void end()}>
              {said.endLinks}
            </Button>
          )
        }
      >
        <NumberInput label={said.shareDays} {...field('expiresInDays')} min={1} max={MOST_DAYS} allowDecimal={false} />
      </Form>
      <Text c="dimmed" fz="sm">
        {valid.length === 0 ? said.noLinks : said.validLinks(valid.length)}
      </Text>
    </Stack>
  )
}
