/** Display names of API values, and texts shared by all pages. */
export const displayNames = {
  severities: { critical: 'Critical', high: 'High', medium: 'Medium', low: 'Low' },
  statuses: { open: 'Open', acknowledged: 'Acknowledged', resolved: 'Resolved', muted: 'Muted' },
  alertTypes: {
    data_validation: 'Data validation',
    tag_volume_change: 'Volume change',
    volume_threshold: 'Volume threshold',
    volume_anomaly: 'Volume anomaly',
    journey: 'Journey',
    flow_test: 'Flow test',
    audit: 'Audit',
    order_capture: 'Order capture',
  },
  roles: { viewer: 'Viewer', member: 'Member', admin: 'Admin', owner: 'Owner' },
  /** Read aloud by screen readers in place of –. */
  unknown: 'unknown',
  ago: (age: string) => `${age} ago`,
  fromNow: (age: string) => `in ${age}`,
  copyTime: (kind: string) => `Copy ${kind}`,
  never: 'Never',
  formerMember: 'former member',
  justNow: 'just now',
  local: 'Local',
  utc: 'UTC',
  epoch: 'Epoch ms',
  showAsTable: 'Show as table',
  showAsChart: 'Show as chart',
}
