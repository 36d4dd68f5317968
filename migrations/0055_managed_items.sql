-- Items that a configuration file manages (`tagwarden apply`). The key identifies an item in the file across renames.
CREATE TABLE managedItem (
  orgId TEXT NOT NULL REFERENCES org ON DELETE CASCADE,
  id TEXT NOT NULL,                     -- of the item; `ownership` and `escalation` have no ids of their own
  key TEXT NOT NULL,                    -- key of the item in the file
  file TEXT NOT NULL,                   -- name of the file, without its folder
  PRIMARY KEY (orgId, id)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER alertUnmanaged AFTER DELETE ON alert BEGIN
  DELETE FROM managedItem WHERE orgId = OLD.orgId AND id = OLD.id;
END;
CREATE TRIGGER domainUnmanaged AFTER DELETE ON domain BEGIN
  DELETE FROM managedItem WHERE orgId = OLD.orgId AND id = OLD.id;
END;
CREATE TRIGGER projectUnmanaged AFTER DELETE ON project BEGIN
  DELETE FROM managedItem WHERE orgId = OLD.orgId AND id = OLD.id;
END;
CREATE TRIGGER labelUnmanaged AFTER DELETE ON label BEGIN
  DELETE FROM managedItem WHERE orgId = OLD.orgId AND id = OLD.id;
END;
CREATE TRIGGER integrationUnmanaged AFTER DELETE ON integration BEGIN
  DELETE FROM managedItem WHERE orgId = OLD.orgId AND id = OLD.id;
END;
CREATE TRIGGER flowTestUnmanaged AFTER DELETE ON flowTest BEGIN
  DELETE FROM managedItem WHERE orgId = OLD.orgId AND id = OLD.id;
END;
CREATE TRIGGER maintenanceUnmanaged AFTER DELETE ON maintenance BEGIN
  DELETE FROM managedItem WHERE orgId = OLD.orgId AND id = OLD.id;
END;
CREATE TRIGGER calendarUnmanaged AFTER DELETE ON calendar BEGIN
  DELETE FROM managedItem WHERE orgId = OLD.orgId AND id = OLD.id;
END;
CREATE TRIGGER orderCaptureRuleUnmanaged AFTER DELETE ON orderCaptureRule BEGIN
  DELETE FROM managedItem WHERE orgId = OLD.orgId AND id = OLD.id;
END;
