import { Button, Kbd, Paper, Text } from '@mantine/core'
import type { Issue } from '#client/types.gen'
import { messages } from '../../messages.ts'
import type { Selection } from '../../parts/selection.ts'
import { usePaletteActs } from '../../shell/palette-acts.ts'
import { setStatus } from './issue-acts.ts'
import classes from './issues-page.module.css'
import type { IssueStatus } from './transitions.ts'

/** Bulk actions for the selected issues. */
export function SelectedIssues({ issues, selection }: { issues: readonly Issue[]; selection: Selection }) {
  const { acknowledge, resolve, reopen, clearSelection, selected, selectedIssues } = messages.issues
  const { acknowledgeKeywords, ofSelected, reopenKeywords, resolveKeywords } = messages.palette
  const offer = (name: string, letter: string, keywords: string, to: IssueStatus) => ({
    ...{ name: ofSelected(name, issues.length), letter, keywords, run: () => void setStatus(issues, to) },
  })
  usePaletteActs([
    offer(acknowledge, 'a', acknowledgeKeywords, 'acknowledged'),
    offer(resolve, 'r', resolveKeywords, 'resolved'),
    offer(reopen, 'u', reopenKeywords, 'open'),
    { name: clearSelection, letter: 'Esc', run: selection.clear },
  ])
  return (
    <Paper className={classes.toolbar} role="toolbar" aria-label={selectedIssues} p="sm">
      <Text fw={600}>{selected(issues.length)}</Text>
      <Act name={acknowledge} letter="A" run={() => void setStatus(issues, 'acknowledged')} />
      <Act name={resolve} letter="R" run={() => void setStatus(issues, 'resolved')} />
      <Act name={reopen} letter="U" run={() => void setStatus(issues, 'open')} />
      <Act name={clearSelection} letter="Esc" run={selection.clear} />
    </Paper>
  )
}

function Act({ name, letter, run }: { name: string; letter: string; run(): void }) {
  return (
    <Button
      variant="default"
      onClick={run}
      rightSection={
        <Kbd size="xs" aria-hidden translate="no">
          {letter}
        </Kbd>
      }
    >
      {name}
    </Button>
  )
}
