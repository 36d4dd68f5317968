import { Group, Paper, Title } from '@mantine/core'
import { type ReactNode, useId } from 'react'

interface CardProps {
  /** The region's name and heading. */
  title: string
  /** At the right of the heading. */
  actions?: ReactNode
  children: ReactNode
}

/** A region of a page with its heading. */
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
