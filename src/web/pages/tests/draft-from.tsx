import { Button, FileButton, Group, Stack, Text, TextInput } from '@mantine/core'
import { useEffect, useState } from 'react'
import { draftFlowTest } from '#client/sdk.gen'
import type { FlowDraft } from '#client/types.gen'
import { useValues } from '../../address/use-search.ts'
import { Data } from '../../parts/data.tsx'
import { useSending } from '../../parts/form.tsx'
import { notices } from '../../shell/notices.ts'
import { words } from '../../words.ts'
import { NEW_TEST } from './address.ts'

/** Where no recording is at hand: the pages and tags of a visitor's session, or of a HAR, to go on with. */
export function DraftFrom({ begin }: { begin(draft: FlowDraft): void }) {
  const [{ sessionId: named }] = useValues(NEW_TEST)
  const [sessionId, setSessionId] = useState(named)
  const [har, setHar] = useState<File | null>(null)
  const said = words.tests.draft
  const take = (draft: FlowDraft) => {
    begin(draft)
    notices.say(said.made(draft.recording.steps.length, draft.expectations.length))
  }
  const ofSession = useSending(['sessionId'], async () => {
    take((await draftFlowTest({ body: { sessionId }, throwOnError: true })).data)
  })
  const ofHar = useSending([], async () => {
    if (har) take((await draftFlowTest({ body: { har: await jsonOf(har) }, throwOnError: true })).data)
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: a link that names a session asks for its draft once
  useEffect(() => {
    if (named) ofSession.submit()
  }, [])
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each file
  useEffect(() => {
    if (har) ofHar.submit()
  }, [har])
  const refusal = ofSession.refusal ?? ofHar.refusal
  return (
    <Stack component="fieldset" className="plain" gap="sm" aria-label={said.title}>
      <Text fz="sm" c="dimmed">
        {said.hint}
      </Text>
      <Group gap="sm" align="flex-end">
        <TextInput
          label={said.session}
          flex="1 1 240px"
          value={sessionId}
          onChange={({ currentTarget }) => setSessionId(currentTarget.value)}
          error={ofSession.errorOf('sessionId')}
          maxLength={200}
          translate="no"
        />
        <Button
          variant="default"
          disabled={sessionId === ''}
          loading={ofSession.isSending}
          onClick={() => ofSession.submit()}
        >
          {said.ofSession}
        </Button>
        <FileButton accept=".har,application/json" onChange={setHar}>
          {(props) => (
            <Button {...props} variant="default" loading={ofHar.isSending}>
              {said.ofHar}
            </Button>
          )}
        </FileButton>
      </Group>
      {refusal && (
        <Text role="alert" c="var(--tw-critical-text)" fz="sm">
          <Data>{refusal}</Data>
        </Text>
      )}
    </Stack>
  )
}

/** What stands in the file; a text that is no JSON goes as it is, and the server says that it is no HAR. */
async function jsonOf(file: File): Promise<Record<string, unknown>> {
  const text = await file.text()
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}
