import { CHANNEL_TITLES } from '../../contract/products.ts'

/** `/deliveries`: notifications and the status of their delivery. */
export const deliveries = {
  restrictedAction: 'Replaying deliveries',
  none: 'No notifications yet. Notifications are sent when an alert with a channel opens an issue.',
  newAlert: 'New alert',
  channel: 'Channel',
  transition: 'Notification',
  /** Separates the notification type from the name of the alert. */
  separator: ':',
  status: 'Status',
  attempts: 'Attempts',
  created: 'Created',
  nextAttempt: 'next attempt',
  issue: 'Issue',
  replay: 'Replay',
  replayed: 'Queued for another delivery attempt.',
  channels: CHANNEL_TITLES,
  transitions: {
    opened: 'Issue opened',
    reopened: 'Issue reopened',
    repeated: 'Still happening',
    resolved: 'Issue resolved',
    test: 'Test',
    delivery_failed: 'Delivery failed',
    assigned: 'Assigned',
    mentioned: 'Mentioned',
  },
  statuses: {
    pending: 'Pending',
    sending: 'Sending',
    delivered: 'Delivered',
    failed: 'Failed',
    withdrawn: 'Withdrawn',
  },
  inbox: 'Inbox',
  inboxHint: 'Messages received by the demo’s mail server and webhook receiver.',
  noMessages: 'No messages yet.',
}
