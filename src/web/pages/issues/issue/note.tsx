import { Text, Textarea } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { type Ref, useRef, useState } from 'react'
import { changeIssue } from '#client/sdk.gen'
import type { IssueDetail, IssueEvidence } from '#client/types.gen'
import { MAX_NOTES_LENGTH } from '../../../../contract/limits.ts'
import { errorMessage } from '../../../api/api-error.ts'
import { type CacheUpdate, mutate } from '../../../api/mutate.ts'
import { useHasRole } from '../../../api/whoami.ts'
import { Data } from '../../../components/data-text.tsx'
import { messages } from '../../../messages.ts'

const PAUSE_MS = 800

interface NoteProps {
  issue: IssueDetail
  field: Ref<HTMLTextAreaElement>
}

/** The note of an issue; saved automatically while typing and when leaving. */
export function Note({ issue: { id, notes }, field }: NoteProps) {
  const mayWrite = useHasRole('member')
  const [typed, type] = useState<string | null>(null)
  const [state, setState] = useState<'rest' | 'saving' | 'saved'>('rest')
  const [refusal, setRefusal] = useState<string | null>(null)
  const saved = useRef(notes ?? '')
  const latest = useRef(saved.current)
  const isSaving = useRef(false)
  const saveOne = async (text: string) => {
    setState('saving')
    const isDone = await mutate({
      optimistic: changesOf(id, text),
      send: () => changeIssue({ path: { id }, body: { notes: text } }),
      onRefused: (error) => setRefusal(errorMessage(error)),
    })
    if (isDone === undefined) return false
    saved.current = text
    setRefusal(null)
    return true
  }
  // One request at a time, so that the server ends up with the latest text.
  const save = async (text: string) => {
    latest.current = text
    if (isSaving.current || text === saved.current) return
    isSaving.current = true
    let isDone = true
    while (isDone && latest.current !== saved.current) isDone = await saveOne(latest.current)
    isSaving.current = false
    setState(isDone && !saveSoon.isPending() ? 'saved' : 'rest')
  }
  const saveSoon = useDebouncedCallback((text: string) => void save(text), { delay: PAUSE_MS, flushOnUnmount: true })
  if (!mayWrite) {
    return <Text style={{ whiteSpace: 'pre-wrap' }}>{notes ? <Data>{notes}</Data> : messages.issue.noNote}</Text>
  }
  return (
    <Textarea
      ref={field}
      label={messages.issue.note}
      value={typed ?? notes ?? ''}
      maxLength={MAX_NOTES_LENGTH}
      minRows={3}
      autosize
      error={refusal}
      description={
        state === 'saving'
          ? messages.issue.noteSaving
          : state === 'saved'
            ? messages.issue.noteSaved
            : messages.issue.noteHint
      }
      onChange={({ currentTarget: { value } }) => {
        type(value)
        setState('rest')
        saveSoon(value)
      }}
      onBlur={() => saveSoon.flush()}
    />
  )
}

const changesOf = (id: string, notes: string): CacheUpdate[] => {
  const change = (issue: IssueDetail): IssueDetail => (issue.id === id ? { ...issue, notes: notes || null } : issue)
  return [
    { queryKey: [{ _id: 'getIssue', path: { id } }], update: change },
    {
      queryKey: [{ _id: 'investigateIssue', path: { id } }],
      update: (evidence: IssueEvidence): IssueEvidence => ({ ...evidence, issue: change(evidence.issue) }),
    },
  ]
}
