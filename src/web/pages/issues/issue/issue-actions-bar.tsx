import { Button, Kbd } from '@mantine/core'
import { type ComponentProps, forwardRef } from 'react'
import type { IssueDetail } from '#client/types.gen'
import { messages } from '../../../messages.ts'
import { useKeyBindings } from '../../../state/key-bindings.ts'
import { usePaletteActions } from '../../../state/palette-actions.ts'
import { canTransition, type IssueStatus, setStatus } from '../change-issue-status.ts'
import { MuteMenu } from '../mute-menu.tsx'

interface IssueActionsProps {
  issue: IssueDetail
  isMuting: boolean
  setMuting(isMuting: boolean): void
}

/** Buttons for the status changes allowed for the issue, each with its keyboard shortcut. */
export function IssueActions({ issue, isMuting, setMuting }: IssueActionsProps) {
  const can = (to: IssueStatus) => canTransition(issue.status, to)
  const become = (to: IssueStatus) => () => {
    if (!can(to)) return false
    return void setStatus([issue], to)
  }
  useKeyBindings({
    a: become('acknowledged'),
    r: become('resolved'),
    u: become('open'),
    m: () => can('muted') && setMuting(true),
  })
  const { acknowledge, mute, reopen, resolve } = messages.issues
  const { palette } = messages
  usePaletteActions([
    ...(can('acknowledged')
      ? [{ name: acknowledge, keywords: palette.acknowledgeKeywords, letter: 'a', run: become('acknowledged') }]
      : []),
    ...(can('resolved')
      ? [{ name: resolve, keywords: palette.resolveKeywords, letter: 'r', run: become('resolved') }]
      : []),
    ...(can('open') ? [{ name: reopen, keywords: palette.reopenKeywords, letter: 'u', run: become('open') }] : []),
    ...(can('muted') ? [{ name: mute, keywords: palette.muteKeywords, letter: 'm', run: () => setMuting(true) }] : []),
  ])
  return (
    <>
      {can('muted') && (
        <MuteMenu issues={[issue]} isOpen={isMuting} open={setMuting}>
          <ActionButton name={mute} letter="M" onClick={() => setMuting(!isMuting)} />
        </MuteMenu>
      )}
      {can('open') && <ActionButton name={reopen} letter="U" onClick={become('open')} />}
      {can('acknowledged') && <ActionButton name={acknowledge} letter="A" onClick={become('acknowledged')} />}
      {can('resolved') && <ActionButton name={resolve} letter="R" variant="filled" onClick={become('resolved')} />}
    </>
  )
}

type ActionButtonProps = ComponentProps<typeof Button<'button'>> & { name: string; letter: string }

/** A button that shows its keyboard shortcut. */
const ActionButton = forwardRef<HTMLButtonElement, ActionButtonProps>(({ name, letter, ...rest }, ref) => (
  <Button
    ref={ref}
    variant="default"
    {...rest}
    rightSection={
      <Kbd size="xs" aria-hidden translate="no">
        {letter}
      </Kbd>
    }
  >
    {name}
  </Button>
))
