import { Switch, type SwitchProps } from '@mantine/core'

/** Switch with a description that is not part of its accessible name. */
export const LabelledSwitch = ({ label, ...rest }: SwitchProps & { label: string; description: string }) => (
  <Switch label={label} aria-label={label} {...rest} />
)
