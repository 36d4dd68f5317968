import { Button, FileButton, Group, List, Stack, Text, TextInput } from '@mantine/core'
import { useEffect, useState } from 'react'
import { draftFlowTest } from '#client/sdk.gen'
import type { FlowDraft, FlowDraftInput } from '#client/types.gen'
import { Data } from '../../components/data-text.tsx'
import { useSubmit } from '../../components/form.tsx'
import { messages } from '../../messages.ts'
import { notices } from '../../state/notices.ts'
import { useSearchParams } from '../../url-state/use-search-params.ts'
import { NEW_TEST } from './queries.ts'

/** Maximum number of listed requests without a body. */
const SHOWN = 5

/** Drafts a test from a visitor's session or a HAR file when there is no recording. */
export function DraftFrom({ begin }: { begin(draft: FlowDraft): void }) {
  const [{ sessionId: named }] = useSearchParams(NEW_TEST)
  const [sessionId, setSessionId] = useState(named)
  const [har, setHar] = useState<File | null>(null)
  const [missing, setMissing] = useState<FlowDraft['missingBodies']>([])
  const t = messages.tests.draft
  const take = (draft: FlowDraft) => {
    begin(draft)
    setMissing(draft.missingBodies)
    notices.say(t.created(draft.recording.steps.length, draft.expectations.length))
  }
  const ofSession = useSubmit(['sessionId'], async () => {
    take((await draftFlowTest({ body: { sessionId } })).data)
  })
  const ofHar = useSubmit([], async () => {
    if (har) take((await draftFlowTest({ body: await bodyOf(har) })).data)
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs once for the session in the URL
  useEffect(() => {
    if (named) ofSession.submit()
  }, [])
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs once per file
  useEffect(() => {
    if (har) ofHar.submit()
  }, [har])
  const refusal = ofSession.refusal ?? ofHar.refusal
  return (
    <Stack component="fieldset" className="plain" gap="sm" aria-label={t.title}>
      <Text fz="sm" c="dimmed">
        {t.hint}
      </Text>
      <Group gap="sm" align="flex-end">
        <TextInput
          label={t.session}
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
          {t.fromSession}
        </Button>
        <FileButton accept=".har,.zip,application/json,application/zip" onChange={setHar}>
          {(props) => (
            <Button {...props} variant="default" loading={ofHar.isSending}>
              {t.fromHar}
            </Button>
          )}
        </FileButton>
      </Group>
      {refusal && (
        <Text role="alert" c="var(--tw-critical-text)" fz="sm">
          <Data>{refusal}</Data>
        </Text>
      )}
      {missing.length > 0 && (
        <Stack gap={4} role="status">
          <Text fz="sm">{t.missing(missing.length)}</Text>
          <List size="sm" withPadding>
            {missing.slice(0, SHOWN).map(({ entry, host, reason }) => (
              <List.Item key={entry}>
                <Data>{`${host}: ${reason}`}</Data>
              </List.Item>
            ))}
          </List>
        </Stack>
      )}
    </Stack>
  )
}

/**
 * The request body for a HAR file or an archive that contains one. Invalid JSON is sent as an empty object, which the
 * server rejects.
 */
async function bodyOf(file: File): Promise<FlowDraftInput> {
  if ((await file.slice(0, 2).text()) === 'PK') return { harZip: await base64Of(file) }
  try {
    return { har: JSON.parse(await file.text()) }
  } catch {
    return { har: {} }
  }
}

function base64Of(file: File): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const reader = new FileReader()
  reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''))
  reader.onerror = () => reject(reader.error)
  reader.readAsDataURL(file)
  return promise
}
