import { Button } from '@mantine/core'
import { decideFindings } from '#client/sdk.gen'
import type { ComplianceFinding, ComplianceFindingList } from '#client/types.gen'
import type { FindingAction } from '../../../contract/statuses.ts'
import { mutate } from '../../api/mutate.ts'
import { updatePages } from '../../api/pagination.ts'
import { useHasRole } from '../../api/whoami.ts'
import { SelectionBar } from '../../components/selection-bar.tsx'
import { messages } from '../../messages.ts'
import { type FindingSelection, keyOf } from './use-finding-selection.ts'

/** Maximum number of findings in a request. */
const MAX_DECISIONS = 200

/** Sends a decision about any number of findings. Returns the errors of those that could not be changed. */
async function send(findings: readonly ComplianceFinding[], action: FindingAction): Promise<string[]> {
  const errors: string[] = []
  for (let at = 0; at < findings.length; at += MAX_DECISIONS) {
    const part = findings.slice(at, at + MAX_DECISIONS).map(({ vendor, key, kind }) => ({ vendor, key, kind }))
    const { data } = await decideFindings({ body: { action, findings: part } })
    errors.push(...(data?.errors ?? []).map(({ error }) => error))
  }
  return errors
}

/** Sets the action of findings optimistically, with undo unless the action opens issues. */
export async function decide(findings: readonly ComplianceFinding[], action: FindingAction): Promise<void> {
  const t = messages.compliance
  const ids = new Set(findings.map(keyOf))
  const change = (one: ComplianceFinding) => (ids.has(keyOf(one)) ? { ...one, action } : one)
  const update = updatePages<ComplianceFindingList>((page) => ({ ...page, findings: page.findings.map(change) }))
  await mutate({
    send: () => send(findings, action),
    optimistic: [{ queryKey: [{ _id: 'listFindings' }], update }],
    invalidates: ['groupFindings', 'listIssues', 'getScores'],
    message: (errors) => {
      const [first] = errors
      const done = findings.length - errors.length
      return first === undefined ? t.decided[action](done) : t.partlyDecided(done, errors.length, first)
    },
    ...(action !== 'file' && {
      undo: () => {
        for (const [before, those] of Map.groupBy(findings, (finding) => finding.action)) void decide(those, before)
      },
    }),
  })
}

/** Actions for the selected findings. */
export function SelectedFindings({ selection }: { selection: FindingSelection }) {
  const { findings } = selection
  const may = useHasRole('member')
  const t = messages.compliance
  if (!may || findings.length === 0) return null
  const act = (action: FindingAction) => {
    selection.clear()
    void decide(findings, action)
  }
  return (
    <SelectionBar name={t.selectedFindings} selected={t.selected(findings.length)}>
      <Button variant="default" onClick={() => act('file')}>
        {t.fileSelected}
      </Button>
      <Button variant="default" onClick={() => act('ignore')}>
        {t.ignoreSelected}
      </Button>
      <Button variant="default" onClick={() => act('watch')}>
        {t.watchSelected}
      </Button>
      <Button variant="default" onClick={selection.clear}>
        {messages.issues.clearSelection}
      </Button>
    </SelectionBar>
  )
}
