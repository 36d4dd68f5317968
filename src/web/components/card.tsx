import { Group, Paper, Title } from '@mantine/core'
import { type ReactNode, useId } from 'react'

interface CardProps {
  /** Accessible name and heading. */
  title: string
  /** Shown to the right of the heading. */
  actions?: ReactNode
  children: ReactNode
}

/** A section with a heading. */
export function Card({ title, actions: beside, children }: CardProps) {
  const id = useId()
  return (
    <Paper component="section" aria-labelledby={id}>
      <Group justify="space-between" mb="md" gap="sm">
        <Title order={2} id={id}>
          {title}
        </Title>
        {beside}
      </Group>
      {children}
    </Paper>
  )
}
