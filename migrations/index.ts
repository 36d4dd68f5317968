import initial from './0001_initial.sql' with { type: 'text' }
import identity from './0002_identity.sql' with { type: 'text' }
import rollups from './0003_rollups.sql' with { type: 'text' }
import signals from './0004_signals.sql' with { type: 'text' }
import domains from './0005_domains.sql' with { type: 'text' }
import batches from './0006_batches.sql' with { type: 'text' }
import totals from './0007_totals.sql' with { type: 'text' }
import countedNames from './0008_counted_names.sql' with { type: 'text' }
import deliveryQueues from './0009_delivery_queues.sql' with { type: 'text' }
import deletedOrgs from './0010_deleted_orgs.sql' with { type: 'text' }
import clock from './0011_clock.sql' with { type: 'text' }
import ruleCost from './0012_rule_cost.sql' with { type: 'text' }
import due from './0013_due.sql' with { type: 'text' }
import damagedFiles from './0014_damaged_files.sql' with { type: 'text' }
import capture from './0015_capture.sql' with { type: 'text' }
import providers from './0016_providers.sql' with { type: 'text' }
import compliance from './0017_compliance.sql' with { type: 'text' }
import changes from './0018_changes.sql' with { type: 'text' }
import labels from './0019_labels.sql' with { type: 'text' }
import orders from './0020_orders.sql' with { type: 'text' }
import imports from './0021_imports.sql' with { type: 'text' }
import consent from './0022_consent.sql' with { type: 'text' }
import deliveryGroups from './0023_delivery_groups.sql' with { type: 'text' }
import deliveryLog from './0024_delivery_log.sql' with { type: 'text' }
import providerWork from './0025_provider_work.sql' with { type: 'text' }
import digest from './0026_digest.sql' with { type: 'text' }
import runIssues from './0027_run_issues.sql' with { type: 'text' }
import flows from './0028_flows.sql' with { type: 'text' }
import shares from './0029_shares.sql' with { type: 'text' }

import invitations from './0030_invitations.sql' with { type: 'text' }

import audits from './0031_audits.sql' with { type: 'text' }

import mutedUntil from './0032_muted_until.sql' with { type: 'text' }

import currency from './0033_currency.sql' with { type: 'text' }

import passwordReset from './0034_password_reset.sql' with { type: 'text' }
import hourlyCounts from './0035_hourly_counts.sql' with { type: 'text' }
import unpackedBytes from './0036_unpacked_bytes.sql' with { type: 'text' }
import keysOfOrganizations from './0037_keys_of_organizations.sql' with { type: 'text' }
import passwordResetLinks from './0038_password_reset_links.sql' with { type: 'text' }
import runSecrets from './0039_run_secrets.sql' with { type: 'text' }
import cancelledAudits from './0040_cancelled_audits.sql' with { type: 'text' }
import shareScreenshots from './0041_share_screenshots.sql' with { type: 'text' }
import sealedTargets from './0042_sealed_targets.sql' with { type: 'text' }
import endSessions from './0043_end_sessions.sql' with { type: 'text' }
import segments from './0044_segments.sql' with { type: 'text' }
import escalation from './0045_escalation.sql' with { type: 'text' }
import maintenance from './0046_maintenance.sql' with { type: 'text' }
import orderCapture from './0047_order_capture.sql' with { type: 'text' }
import ownership from './0048_ownership.sql' with { type: 'text' }
import muteScope from './0049_mute_scope.sql' with { type: 'text' }
import deliveryRequests from './0050_delivery_requests.sql' with { type: 'text' }
import sortedLists from './0051_sorted_lists.sql' with { type: 'text' }
import backups from './0052_backups.sql' with { type: 'text' }
import people from './0053_people.sql' with { type: 'text' }
import gateRuns from './0054_gate_runs.sql' with { type: 'text' }
import managedItems from './0055_managed_items.sql' with { type: 'text' }
import operatorAlarms from './0056_operator_alarms.sql' with { type: 'text' }
import retentionChanges from './0057_retention_changes.sql' with { type: 'text' }
import savedViews from './0058_saved_views.sql' with { type: 'text' }
import warehouseEngine from './0059_warehouse_engine.sql' with { type: 'text' }
import collectors from './0060_collectors.sql' with { type: 'text' }
import warehouseMigration from './0061_warehouse_migration.sql' with { type: 'text' }

/** Migrations in the order in which they run. Released statements never change; new migrations are appended. */
export const migrations: readonly { name: string; sql: string }[] = [
  { name: '0001_initial', sql: initial },
  { name: '0002_identity', sql: identity },
  { name: '0003_rollups', sql: rollups },
  { name: '0004_signals', sql: signals },
  { name: '0005_domains', sql: domains },
  { name: '0006_batches', sql: batches },
  { name: '0007_totals', sql: totals },
  { name: '0008_counted_names', sql: countedNames },
  { name: '0009_delivery_queues', sql: deliveryQueues },
  { name: '0010_deleted_orgs', sql: deletedOrgs },
  { name: '0011_clock', sql: clock },
  { name: '0012_rule_cost', sql: ruleCost },
  { name: '0013_due', sql: due },
  { name: '0014_damaged_files', sql: damagedFiles },
  { name: '0015_capture', sql: capture },
  { name: '0016_providers', sql: providers },
  { name: '0017_compliance', sql: compliance },
  { name: '0018_changes', sql: changes },
  { name: '0019_labels', sql: labels },
  { name: '0020_orders', sql: orders },
  { name: '0021_imports', sql: imports },
  { name: '0022_consent', sql: consent },
  { name: '0023_delivery_groups', sql: deliveryGroups },
  { name: '0024_delivery_log', sql: deliveryLog },
  { name: '0025_provider_work', sql: providerWork },
  { name: '0026_digest', sql: digest },
  { name: '0027_run_issues', sql: runIssues },
  { name: '0028_flows', sql: flows },
  { name: '0029_shares', sql: shares },
  { name: '0030_invitations', sql: invitations },
  { name: '0031_audits', sql: audits },
  { name: '0032_muted_until', sql: mutedUntil },
  { name: '0033_currency', sql: currency },
  { name: '0034_password_reset', sql: passwordReset },
  { name: '0035_hourly_counts', sql: hourlyCounts },
  { name: '0036_unpacked_bytes', sql: unpackedBytes },
  { name: '0037_keys_of_organizations', sql: keysOfOrganizations },
  { name: '0038_password_reset_links', sql: passwordResetLinks },
  { name: '0039_run_secrets', sql: runSecrets },
  { name: '0040_cancelled_audits', sql: cancelledAudits },
  { name: '0041_share_screenshots', sql: shareScreenshots },
  { name: '0042_sealed_targets', sql: sealedTargets },
  { name: '0043_end_sessions', sql: endSessions },
  { name: '0044_segments', sql: segments },
  { name: '0045_escalation', sql: escalation },
  { name: '0046_maintenance', sql: maintenance },
  { name: '0047_order_capture', sql: orderCapture },
  { name: '0048_ownership', sql: ownership },
  { name: '0049_mute_scope', sql: muteScope },
  { name: '0050_delivery_requests', sql: deliveryRequests },
  { name: '0051_sorted_lists', sql: sortedLists },
  { name: '0052_backups', sql: backups },
  { name: '0053_people', sql: people },
  { name: '0054_gate_runs', sql: gateRuns },
  { name: '0055_managed_items', sql: managedItems },
  { name: '0056_operator_alarms', sql: operatorAlarms },
  { name: '0057_retention_changes', sql: retentionChanges },
  { name: '0058_saved_views', sql: savedViews },
  { name: '0059_warehouse_engine', sql: warehouseEngine },
  { name: '0060_collectors', sql: collectors },
  { name: '0061_warehouse_migration', sql: warehouseMigration },
]
