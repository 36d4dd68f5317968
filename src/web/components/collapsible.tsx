import { UnstyledButton } from '@mantine/core'
import { IconChevronRight } from '@tabler/icons-react'
import { type ReactNode, useId, useState } from 'react'
import classes from './collapsible.module.css'

interface FoldProps {
  title: string
  /** Short description of the content, shown next to the title. */
  summary: ReactNode
  /** Initial state. */
  isOpenAtFirst?: boolean
  /** Forces the section open, for example to show a field with an error. */
  mustShow?: boolean
  children: ReactNode
}

/** Collapsible section for rarely used settings, with a summary. */
export function Collapsible({ title, summary: says, isOpenAtFirst = false, mustShow = false, children }: FoldProps) {
  const [isChosen, choose] = useState(isOpenAtFirst)
  const isOpen = isChosen || mustShow
  const id = useId()
  return (
    <div className={classes.fold}>
      <UnstyledButton
        className={classes.head}
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => choose(!isOpen)}
      >
        <IconChevronRight size={16} aria-hidden className={classes.mark} data-open={isOpen || undefined} />
        <span className={classes.title}>{title}</span>
        <span className={classes.says}>{says}</span>
      </UnstyledButton>
      <div id={id} hidden={!isOpen} className={classes.body}>
        {isOpen && children}
      </div>
    </div>
  )
}
