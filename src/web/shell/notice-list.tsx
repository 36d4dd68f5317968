import { Button, CloseButton, Paper } from '@mantine/core'
import { useEffect, useRef } from 'react'
import { Data } from '../components/data-text.tsx'
import { messages } from '../messages.ts'
import { type Notice, notices, UNDO_MS, useNotices } from '../state/notices.ts'
import classes from './notice-list.module.css'

/** The visible notices. The status region is always mounted, so that screen readers announce its changes. */
export function NoticeList() {
  const all = useNotices()
  return (
    <div className={classes.list}>
      <div role="status">
        {all
          .filter(({ kind }) => kind === 'said')
          .map((notice) => (
            <Line key={notice.id} notice={notice} />
          ))}
      </div>
      {all
        .filter(({ kind }) => kind === 'refused')
        .map((notice) => (
          <div role="alert" key={notice.id}>
            <Line notice={notice} />
          </div>
        ))}
    </div>
  )
}

function Line({ notice: { id, kind, text, undo, retry } }: { notice: Notice }) {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const wait = () => {
    if (kind === 'said') timer.current = setTimeout(() => notices.dismiss(id), UNDO_MS)
  }
  const hold = () => clearTimeout(timer.current)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the timer starts once, on mount
  useEffect(() => {
    wait()
    return hold
  }, [])
  return (
    <Paper
      className={classes.notice}
      data-kind={kind}
      onMouseEnter={hold}
      onMouseLeave={wait}
      onFocus={hold}
      onBlur={wait}
    >
      <span className={classes.text}>{kind === 'refused' ? <Data>{text}</Data> : text}</span>
      {undo && (
        <Button size="compact-sm" variant="default" onClick={undo}>
          {messages.shell.undo}
        </Button>
      )}
      {retry && (
        <Button size="compact-sm" variant="default" onClick={retry}>
          {messages.shell.retry}
        </Button>
      )}
      <CloseButton size="sm" aria-label={messages.shell.dismiss} onClick={() => notices.dismiss(id)} />
    </Paper>
  )
}
