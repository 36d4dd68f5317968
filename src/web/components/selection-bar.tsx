import { Paper, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './selection-bar.module.css'

interface SelectionBarProps {
  /** Accessible name. */
  name: string
  /** Number of selected items, in words. */
  selected: string
  /** The buttons. */
  children: ReactNode
}

/** Actions for the selected items of a list. */
export function SelectionBar({ name, selected, children }: SelectionBarProps) {
  return (
    <Paper className={classes.bar} role="toolbar" aria-label={name} p="sm">
      <Text fw={600}>{selected}</Text>
      {children}
    </Paper>
  )
}
